#include "sim/study/record_scenario.h"

#include "sim/study/record_machine.h"
#include "sim/study/record_model.h"
#include "sim/study/record_strategy.h"
#include "sim/study/record_words.h"
#include "sim/workload/model_reader.h"

#include <fmt/core.h>

namespace trainyard {

namespace {

// Why no scenario can be made of it.
std::string unusable(const MeasuredRecord& record)
{
    if (std::string why = why_not_scored(record); !why.empty())
        return why;
    if (record.global_batch.value_or(0) < 1)
        return "global batch not stated";
    return {};
}

void append(std::vector<std::string>& to, const std::vector<std::string>& from)
{
    to.insert(to.end(), from.begin(), from.end());
}

Source source_of(const std::variant<Model, std::string>& model)
{
    if (const auto* shipped = std::get_if<std::string>(&model))
        return {*shipped, {}};
    return {{}, write_model(std::get<Model>(model))};
}

} // namespace

std::string why_not_scored(const MeasuredRecord& record)
{
    if (record.quality == "C")
        return "quality C: contradictory or rounded";
    if (record.step_time.value_or(0) <= 0 && !record.out_of_memory)
        return "no step time";
    return {};
}

tl::expected<RecordScenario, std::string> scenario_of(const MeasuredRecord& record)
{
    if (std::string why = unusable(record); !why.empty())
        return tl::unexpected(why);
    const RecordSoftware software = software_of(record);
    const auto machine = machine_of(record);
    if (!machine)
        return tl::unexpected(machine.error());
    const auto model = model_of(record, software.family);
    if (!model)
        return tl::unexpected(model.error());
    const auto* built = std::get_if<Model>(&model->model);
    const auto* transformer =
        built == nullptr ? nullptr : std::get_if<Transformer>(&built->architecture);
    auto job = strategy_of(record, software, transformer);
    if (!job)
        return tl::unexpected(job.error());

    RecordScenario out;
    out.scenario.description = record.id;
    out.scenario.model = source_of(model->model);
    out.scenario.training = job->training;
    out.scenario.strategy = job->strategy;
    out.scenario.topology = {{}, machine->topology};
    out.scenario.software = software.choice;
    append(out.assumptions, software.assumptions);
    append(out.assumptions, machine->assumptions);
    append(out.assumptions, model->assumptions);
    append(out.assumptions, job->assumptions);
    out.recompute_to_fit = job->recompute_to_fit;
    out.recompute_parts = job->recompute_parts;
    out.layers_per_device = job->layers_per_device;
    return out;
}

} // namespace trainyard
