#include "sim/study/jobs/job_export.h"

#include "sim/base/fields.h"
#include "sim/base/words.h"
#include "sim/study/framework_limits.h"
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

// A field in which two jobs differ; null: the default.
struct JobDifference {
    std::string field;
    const Json* here;
    const Json* there;
};

std::string shown(const Json* value)
{
    return value == nullptr ? "the default" : to_text(*value, JsonStyle::compact);
}

void compare(const Json* here, const Json* there, const std::string& name,
             std::vector<JobDifference>& out)
{
    if (here != nullptr && there != nullptr && *here == *there)
        return;
    const bool open =
        (here != nullptr && here->is_object()) || (there != nullptr && there->is_object());
    if (!open) {
        out.push_back({name, here, there});
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

// Kernels are those of the software: where that differs, it says all.
std::vector<JobDifference> differences(const Json& here, const Json& there)
{
    std::vector<JobDifference> out;
    compare(&here, &there, "", out);
    const auto names_software = [](const JobDifference& one) {
        return one.field == "software.class";
    };
    if (std::ranges::any_of(out, names_software))
        std::erase_if(out, [](const JobDifference& one) {
            return one.field.starts_with("software.kernels.");
        });
    return out;
}

// What a layout is, whatever software runs it.
bool is_of_layout(const std::string& field)
{
    constexpr std::string_view fields =
        "strategy.tp strategy.cp strategy.pp strategy.vpp strategy.ep strategy.etp strategy.dp "
        "strategy.zero strategy.schedule training.global_batch training.micro_batch "
        "training.recompute training.recompute_layers training.recompute_modules";
    return has_word(fields, field);
}

// The sentences at the head of a text, as its format has comments.
std::string with_head(JobKind kind, std::string text, const std::vector<std::string>& left_out)
{
    if (left_out.empty())
        return text;
    const std::string lead = "What these settings do not say of the scenario they were made from:";
    if (kind == JobKind::deepspeed) { // which passes over members that it does not know
        Json head = Json::array();
        head.push_back(lead);
        for (const std::string& sentence : left_out)
            head.push_back(sentence);
        Json out = Json::Object{{"_comment", std::move(head)}};
        const Json settings = parse_json(text, "").value();
        for (const auto& [key, value] : settings.members())
            out[key] = value;
        return to_text(out) + "\n";
    }
    std::string head = "# " + lead + "\n";
    for (const std::string& sentence : left_out)
        head += "#   " + sentence + "\n";
    const std::size_t first = text.starts_with("#!") ? text.find('\n') + 1 : 0;
    return text.insert(first, head);
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

// Why a format cannot say the model, whatever its layout; empty where it can.
std::string why_unsayable(JobKind kind, const Model& model)
{
    if (kind != JobKind::megatron && kind != JobKind::torchtitan)
        return {};
    const auto* const transformer = std::get_if<Transformer>(&model.architecture);
    if (transformer == nullptr)
        return fmt::format("is a list of layers: {} trains transformers", to_name(kind));
    if (kind == JobKind::torchtitan)
        return transformer->causal ? "" : "is an encoder: torchtitan trains decoders";
    const bool plain = transformer->pattern.empty() && transformer->encoders.empty() &&
                       !transformer->is_recurrent();
    return plain ? ""
                 : "is no GPT: its arguments know layers of one kind, of attention and an MLP or "
                   "experts";
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

Checked<JobExport> export_job(JobKind kind, const ScenarioFile& file, StageMemos& memos)
{
    const Checked<Parts> parts = build_job_parts(file, memos);
    if (!parts)
        return tl::unexpected(parts.error());
    const ExportedJob exported = exported_from(*parts, file.scenario);
    if (const std::string why = why_unsayable(kind, exported.job.model); !why.empty())
        return tl::unexpected(
            one_problem(fmt::format("model \"{}\" {}", exported.job.model.name, why),
                        "deepspeed and torchrun take the model from code"));
    if (std::optional<Diagnostic> refused =
            refusal_by(framework_limits(to_name(kind)), exported.job))
        return tl::unexpected(Problems{std::move(*refused)});
    JobExport out;
    out.text = write_job(kind, exported);
    const JobImportOptions options = as_a_reader_would(kind, exported, file);
    if (options.model.given())
        out.left_out.push_back("model: given beside (--model) when it is read back");
    const Checked<ImportedJob> again = import_job(kind, out.text, "export", options, memos);
    if (!again)
        return tl::unexpected(one_problem(fmt::format("{} cannot say this layout: {}",
                                                      to_name(kind), again.error().front().message),
                                          "another of the formats, or another layout"));
    const ExportedJob read_back{again->job, again->scenario.scenario, exported.nodes,
                                exported.gpus_per_node};
    const Json here = described(exported);
    const Json there = described(read_back);
    for (const JobDifference& lost : differences(here, there)) {
        out.left_out.push_back(fmt::format("{}: {} here, {} read back", lost.field,
                                           shown(lost.here), shown(lost.there)));
        if (is_of_layout(lost.field))
            out.other_layout.push_back(fmt::format("{} = {}", lost.field, shown(lost.here)));
    }
    out.text = with_head(kind, std::move(out.text), out.left_out);
    return out;
}

} // namespace trainyard
