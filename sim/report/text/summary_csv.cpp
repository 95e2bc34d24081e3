#include "sim/report/text/summary_csv.h"

#include "sim/base/build_info.h"
#include "sim/base/quoted.h"
#include "sim/report/text/describe.h"

#include <fmt/core.h>

namespace trainyard {

namespace {

struct Field {
    std::string name;
    std::string value;
};

std::string number(double value)
{
    return fmt::format("{}", value);
}

std::vector<Field> identity(const Outcome& outcome)
{
    return {{"model", outcome.job.model.name},
            {"gpus", fmt::format("{}", outcome.job.world())},
            {"settings", job_settings(outcome)}};
}

std::vector<Field> figures(const Summary& summary)
{
    std::vector<Field> fields{
        {"step_time_s", number(summary.step_time.value.value())},
        {"step_time_low_s", number(summary.step_time.low.value())},
        {"step_time_high_s", number(summary.step_time.high.value())},
        {"grade", std::string(to_name(summary.step_time.grade))},
        {"tokens_per_s", number(summary.tokens_per_s)},
        {"samples_per_s", number(summary.samples_per_s)},
        {"tokens_per_s_per_gpu", number(summary.tokens_per_s_per_gpu)},
        {"mfu", number(summary.mfu)},
        {"hfu", number(summary.hfu)},
        {"fits", summary.fits ? "true" : "false"},
        {"peak_memory_bytes", fmt::format("{}", summary.peak_memory.value())},
        {"communication_exposed_fraction", number(summary.communication_exposed_fraction)},
        {"communication_summed_fraction", number(summary.communication_summed_fraction)},
        {"compute_utilization", number(summary.compute_utilization)},
        {"scaling_efficiency",
         summary.scaling_efficiency ? number(*summary.scaling_efficiency) : ""},
        {"bottleneck", std::string(to_name(summary.bottleneck.kind))}};
    for (const TimeKind kind : time_kinds())
        fields.push_back({fmt::format("mean_{}_s", to_name(kind)),
                          number(summary.mean[index_of(kind)].value())});
    return fields;
}

std::vector<Field> provenance(const Outcome& outcome)
{
    return {{"trainyard", std::string(version())},
            {"input_hash", hash_text(outcome.input_hash)},
            {"seed", fmt::format("{}", outcome.scenario.run.seed)}};
}

using Row = std::vector<Field>;

Row row_of(const Outcome& outcome, const Summary& summary)
{
    Row row = identity(outcome);
    for (const Row& part : {figures(summary), provenance(outcome)})
        row.insert(row.end(), part.begin(), part.end());
    return row;
}

std::string line(const Row& row, std::string Field::*member)
{
    std::string out;
    for (std::size_t i = 0; i < row.size(); ++i)
        out += (i > 0 ? "," : "") + csv_field(row[i].*member);
    return out + "\n";
}

} // namespace

std::string summary_csv(std::span<const ResultPair> results)
{
    std::string out;
    for (const ResultPair& result : results) {
        const Row row = row_of(*result.outcome, *result.summary);
        if (out.empty())
            out += line(row, &Field::name);
        out += line(row, &Field::value);
    }
    return out;
}

std::string summary_csv(const Outcome& outcome, const Summary& summary)
{
    const ResultPair result{&outcome, &summary};
    return summary_csv(std::span(&result, 1));
}

} // namespace trainyard
