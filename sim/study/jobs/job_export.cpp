#include "sim/study/jobs/job_export.h"

#include "sim/base/fields.h"
#include "sim/study/jobs/megatron/megatron.h"
#include "sim/study/jobs/torch/deepspeed.h"
#include "sim/study/jobs/torch/torchtitan.h"
#include "sim/study/jobs/torch/trainer_arguments.h"
#include "sim/study/problems.h"

#include <fmt/core.h>

#include <algorithm>

namespace trainyard {
namespace {

std::string write_job(JobKind kind, const ExportedJob& job)
{
    switch (kind) {
    case JobKind::megatron:
        return write_megatron(job);
    case JobKind::deepspeed:
        return write_deepspeed(job);
    case JobKind::torchtitan:
        return write_torchtitan(job);
    case JobKind::torchrun:
        return write_torchrun(job);
    }
    return {};
}

// All that a scenario decides about a job, as one tree.
Json described(const ExportedJob& exported)
{
    Json out = Json::object();
    const Job& job = exported.job;
    if (const auto* model = std::get_if<Transformer>(&job.model.architecture))
        out["model"] = fields_of<Transformer>().write(*model);
    else
        out["model"] = fields_of<LayerList>().write(std::get<LayerList>(job.model.architecture));
    out["training"] = fields_of<Training>().write(job.training);
    out["strategy"] = fields_of<Strategy>().write(job.strategy);
    out["software"]["class"] = job.software.name;
    out["software"]["kernels"] = fields_of<KernelStyle>().write(job.software.kernels);
    out["software"]["cuda_graphs"] = job.cuda_graphs;
    const Scenario& scenario = exported.scenario;
    out["environment"] =
        FieldValue<std::map<std::string, std::string>>::write(scenario.environment);
    out["perturbations"] = FieldValue<std::vector<Perturbation>>::write(scenario.perturbations);
    out["profile"] = scenario.profile;
    return out;
}

std::string shown(const Json* value)
{
    return value == nullptr ? "the default" : to_text(*value, JsonStyle::compact);
}

void compare(const Json* here, const Json* there, const std::string& name,
             std::vector<std::string>& out)
{
    if (here != nullptr && there != nullptr && *here == *there)
        return;
    const bool open =
        (here != nullptr && here->is_object()) || (there != nullptr && there->is_object());
    if (!open) {
        out.push_back(fmt::format("{}: {} here, {} read back", name, shown(here), shown(there)));
        return;
    }
    std::vector<std::string> keys;
    for (const Json* side : {here, there})
        if (side != nullptr && side->is_object())
            for (const Json::Member& member : side->members())
                if (std::find(keys.begin(), keys.end(), member.first) == keys.end())
                    keys.push_back(member.first);
    for (const std::string& key : keys)
        compare(here == nullptr ? nullptr : here->find(key),
                there == nullptr ? nullptr : there->find(key),
                name.empty() ? key : name + "." + key, out);
}

JobImportOptions as_a_reader_would(JobKind kind, const ExportedJob& exported,
                                   const ScenarioFile& file)
{
    JobImportOptions options;
    options.folder = file.base;
    options.cluster.topology = exported.scenario.topology;
    const auto* model = std::get_if<Transformer>(&exported.job.model.architecture);
    const bool describes = kind == JobKind::megatron && model != nullptr;
    const bool flavored =
        kind == JobKind::torchtitan && model != nullptr &&
        std::any_of(titan_flavors().begin(), titan_flavors().end(),
                    [&](const TitanFlavor& known) { return known.model == *model; });
    if (!describes && !flavored)
        options.model = exported.scenario.model;
    return options;
}

// Whether pretrain_gpt.py's arguments can say the model at all.
bool is_gpt(const Model& model)
{
    const auto* transformer = std::get_if<Transformer>(&model.architecture);
    return transformer == nullptr ||
           (transformer->pattern.empty() && transformer->encoders.empty() &&
            !transformer->is_recurrent());
}

ExportedJob exported_from(const Parts& parts, const Scenario& scenario)
{
    ExportedJob out{parts.job, scenario, 1, 1};
    const Topology& topology = *parts.topology;
    const int world = parts.job.world();
    const int nodes = topology.node_count();
    out.gpus_per_node = std::min(world, topology.device_count() / std::max(1, nodes));
    out.nodes = (world + out.gpus_per_node - 1) / out.gpus_per_node;
    return out;
}

} // namespace

std::vector<std::string> differences(const ExportedJob& original, const ExportedJob& read_back)
{
    std::vector<std::string> out;
    const Json here = described(original);
    const Json there = described(read_back);
    compare(&here, &there, "", out);
    return out;
}

Checked<JobExport> export_job(JobKind kind, const ScenarioFile& file, StageMemos& memos)
{
    const Checked<Parts> parts = build_job_parts(file, memos);
    if (!parts)
        return tl::unexpected(parts.error());
    const ExportedJob exported = exported_from(*parts, file.scenario);
    if (kind == JobKind::megatron && !is_gpt(exported.job.model))
        return tl::unexpected(one_problem(
            fmt::format(
                "model \"{}\" is no GPT: its arguments know layers of one kind, of attention "
                "and an MLP or experts",
                exported.job.model.name),
            "deepspeed, torchtitan and torchrun take the model from code"));
    JobExport out;
    out.text = write_job(kind, exported);
    const JobImportOptions options = as_a_reader_would(kind, exported, file);
    if (options.model.given())
        out.left_out.push_back("model: given beside (--model) when it is read back");
    const Checked<ImportedJob> again = import_job(kind, out.text, "export", options, memos);
    if (!again) {
        for (const Diagnostic& problem : again.error())
            out.left_out.push_back(
                fmt::format("it is refused when read back: {}", problem.message));
        return out;
    }
    const ExportedJob read_back{again->job, again->scenario.scenario, exported.nodes,
                                exported.gpus_per_node};
    const std::vector<std::string> lost = differences(exported, read_back);
    out.left_out.insert(out.left_out.end(), lost.begin(), lost.end());
    return out;
}

} // namespace trainyard
