#include "calibrate/import/pair_matrix.h"

#include "calibrate/import/json_fields.h"

#include <fmt/core.h>

#include <algorithm>

namespace trainyard {
namespace {

// GB/s or us.
double unit_of(PairQuantity quantity)
{
    return quantity == PairQuantity::bandwidth ? 1e9 : 1e-6;
}

// Values off the diagonal of a square matrix between GPUs: copies within one GPU are another thing.
std::vector<double> between_parts(const PairMatrix& matrix)
{
    std::vector<double> out;
    for (std::size_t i = 0; i < matrix.values.size(); ++i)
        for (std::size_t j = 0; j < matrix.values[i].size(); ++j)
            if (matrix.values[i][j] && (i != j || matrix.rows != "GPU"))
                out.push_back(*matrix.values[i][j]);
    std::sort(out.begin(), out.end());
    return out;
}

PairMatrix matrix_in(const Json& json)
{
    PairMatrix out;
    out.test = printable(text_at(json, "test"), 100);
    out.title = printable(text_at(json, "title"), 200);
    out.rows = printable(text_at(json, "rows"), 10);
    const bool latency = text_at(json, "quantity") == "latency";
    out.quantity = latency ? PairQuantity::latency : PairQuantity::bandwidth;
    for (const Json& row : list_at(json, latency ? "values_us" : "values_GBps")) {
        out.values.emplace_back();
        if (row.is_array())
            for (const Json& value : row.items())
                out.values.back().push_back(
                    value.is_number() ? std::optional(value.as_double() * unit_of(out.quantity))
                                      : std::nullopt);
    }
    return out;
}

} // namespace

bool keep_plausible(PairMatrix& matrix, ImportNotes& notes)
{
    bool any = false;
    for (auto& row : matrix.values)
        for (auto& value : row) {
            if (!value)
                continue;
            const bool high = matrix.quantity == PairQuantity::bandwidth && *value > fastest_copy;
            if (high)
                add_note(notes.flagged, fmt::format("{}: {:.4g} GB/s is impossible: left out",
                                                    matrix.test, *value / 1e9));
            if (high || !(*value > 0))
                value.reset();
            any = any || value.has_value();
        }
    return any;
}

Json to_json(const std::vector<PairMatrix>& matrices)
{
    Json out = Json::object();
    out["format"] = pairs_format;
    out["matrices"] = Json::array();
    for (const PairMatrix& matrix : matrices) {
        const bool latency = matrix.quantity == PairQuantity::latency;
        Json values = Json::array();
        for (const auto& row : matrix.values) {
            Json cells = Json::array();
            for (const auto& value : row)
                cells.push_back(value ? Json(*value / unit_of(matrix.quantity)) : Json(nullptr));
            values.push_back(std::move(cells));
        }
        Json entry = Json::object();
        entry["test"] = matrix.test;
        entry["title"] = matrix.title;
        entry["rows"] = matrix.rows;
        entry["quantity"] = latency ? "latency" : "bandwidth";
        entry[latency ? "values_us" : "values_GBps"] = std::move(values);
        out["matrices"].push_back(std::move(entry));
    }
    return out;
}

bool is_pairs(const Json& json)
{
    return text_at(json, "format") == pairs_format;
}

ImportedPairs read_pairs(const Json& json)
{
    ImportedPairs out;
    for (const Json& entry : list_at(json, "matrices")) {
        PairMatrix matrix = matrix_in(entry);
        if (keep_plausible(matrix, out.notes))
            out.matrices.push_back(std::move(matrix));
    }
    return out;
}

std::string describe(const PairMatrix& matrix)
{
    std::size_t columns = 0;
    for (const auto& row : matrix.values)
        columns = std::max(columns, row.size());
    const std::vector<double> values = between_parts(matrix);
    std::string out = fmt::format("{}: {} x {}", matrix.test, matrix.values.size(), columns);
    if (values.empty())
        return out;
    const double unit = unit_of(matrix.quantity);
    return out + fmt::format(", {:.4g} to {:.4g} {}, median {:.4g}", values.front() / unit,
                             values.back() / unit,
                             matrix.quantity == PairQuantity::bandwidth ? "GB/s" : "us",
                             values[values.size() / 2] / unit);
}

} // namespace trainyard
