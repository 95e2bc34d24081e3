// The JSON output of nvbandwidth: its values are texts.

#include "calibrate/import/json_fields.h"
#include "calibrate/import/log_text.h"
#include "calibrate/import/pair_text.h"

#include <fmt/core.h>

namespace trainyard {
namespace {

const Json* root_of(const Json& json)
{
    const Json* const root = json.find("nvbandwidth");
    return root != nullptr && root->is_object() ? root : nullptr;
}

std::optional<double> cell(const Json& json)
{
    if (json.is_number())
        return json.as_double();
    return json.is_string() ? number_in(trimmed(json.as_string())) : std::nullopt;
}

// Seconds or bytes/s per unit of the values.
double factor_of(PairMatrix& matrix)
{
    const bool nanoseconds = matrix.title.find("(ns)") != std::string::npos;
    const bool microseconds = matrix.title.find("(us)") != std::string::npos;
    if (!nanoseconds && !microseconds)
        return 1e9;
    matrix.quantity = PairQuantity::latency;
    return nanoseconds ? 1e-9 : 1e-6;
}

} // namespace

bool is_nvbandwidth_json(const Json& json)
{
    return root_of(json) != nullptr;
}

ImportedPairs read_nvbandwidth_json(const Json& json)
{
    ImportedPairs out;
    const Json* const root = root_of(json);
    if (root == nullptr)
        return out;
    for (const Json& test : list_at(*root, "testcases")) {
        const std::string name = printable(text_at(test, "name"), 100);
        if (const std::string status = text_at(test, "status");
            !status.empty() && status != "Passed") {
            add_note(out.notes.ignored, fmt::format("{}: {}", name, printable(status, 40)));
            continue;
        }
        PairMatrix matrix;
        matrix.test = name;
        matrix.title = printable(text_at(test, "bandwidth_description"), 200);
        if (matrix.title.find("CPU(row)") != std::string::npos)
            matrix.rows = "CPU";
        const double factor = factor_of(matrix);
        for (const Json& row : list_at(test, "bandwidth_matrix")) {
            matrix.values.emplace_back();
            if (!row.is_array())
                continue;
            for (const Json& value : row.items()) {
                const auto number = cell(value);
                matrix.values.back().push_back(number ? std::optional(*number * factor)
                                                      : std::nullopt);
            }
        }
        if (keep_plausible(matrix, out.notes))
            out.matrices.push_back(std::move(matrix));
    }
    return out;
}

} // namespace trainyard
