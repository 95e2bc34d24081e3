#include "sim/report/text/summary_csv.h"

#include "sim/base/build_info.h"
#include "sim/base/quoted.h"
#include "sim/report/text/describe.h"

#include <fmt/ranges.h>

namespace trainyard {

namespace {

std::vector<CsvColumn> columns_of(const Outcome& outcome, const Summary& summary)
{
    std::vector<CsvColumn> out{{"model", outcome.job.model.name},
                               {"gpus", summary.gpus},
                               {"settings", job_settings(outcome)}};
    for (const Figure* figure : figures_in(in_csv))
        out.push_back({figure->key, figure->value(summary)});
    out.push_back({"trainyard", version()});
    out.push_back({"input_hash", hash_text(outcome.input_hash)});
    out.push_back({"seed", outcome.scenario.run.seed});
    return out;
}

std::string value_text(const Json& value)
{
    if (value.is_null())
        return "";
    if (value.is_string())
        return csv_field(value.as_string());
    if (value.is_bool())
        return value.as_bool() ? "true" : "false";
    return value.is_integer() ? fmt::format("{}", value.as_integer())
                              : fmt::format("{}", value.as_double());
}

} // namespace

std::string csv_names(const std::vector<CsvColumn>& columns)
{
    std::vector<std::string> names;
    for (const CsvColumn& column : columns)
        names.push_back(csv_field(column.name));
    return fmt::format("{}\n", fmt::join(names, ","));
}

std::string csv_values(const std::vector<CsvColumn>& columns)
{
    std::vector<std::string> values;
    for (const CsvColumn& column : columns)
        values.push_back(value_text(column.value));
    return fmt::format("{}\n", fmt::join(values, ","));
}

std::string summary_csv(std::span<const ResultPair> results)
{
    std::string out;
    for (const ResultPair& result : results) {
        const std::vector<CsvColumn> columns = columns_of(*result.outcome, *result.summary);
        if (out.empty())
            out += csv_names(columns);
        out += csv_values(columns);
    }
    return out;
}

std::string summary_csv(const Outcome& outcome, const Summary& summary)
{
    const ResultPair result{&outcome, &summary};
    return summary_csv(std::span(&result, 1));
}

} // namespace trainyard
