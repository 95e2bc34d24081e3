#include "sim/study/jobs/job_import.h"

#include "sim/study/environment.h"
#include "sim/study/inputs.h"
#include "sim/study/jobs/job_readers.h"
#include "sim/study/jobs/recipes/read_recipe.h"
#include "sim/study/jobs/torch/torchtitan.h"
#include "sim/study/problems.h"
#include "sim/workload/model_reader.h"

#include <algorithm>

namespace trainyard {

template <>
std::vector<EnumName<JobKind>> enum_names<JobKind>()
{
    return {{JobKind::megatron, "megatron"},
            {JobKind::deepspeed, "deepspeed"},
            {JobKind::torchtitan, "torchtitan"},
            {JobKind::torchrun, "torchrun"}};
}

namespace {

// By its first line: "#!/usr/bin/env bash".
bool is_shell_script(std::string_view text)
{
    const std::string_view line = text.substr(0, text.find_first_of("\r\n"));
    return line.starts_with("#!") &&
           (line.ends_with("sh") || line.find("sh ") != std::string_view::npos);
}

} // namespace

std::optional<JobKind> recognise_job(std::string_view text)
{
    const auto has = [&](std::string_view word) { return text.find(word) != std::string::npos; };
    const std::size_t first = text.find_first_not_of(" \t\r\n");
    const bool object = first != std::string_view::npos && text[first] == '{';
    if (const std::optional<JobKind> recipe = recognise_recipe(text))
        return recipe;
    if (object && (has("\"zero_optimization\"") || has("\"train_batch_size\"") ||
                   has("\"train_micro_batch_size_per_gpu\"") || has("\"bf16\"") || has("\"fp16\"")))
        return JobKind::deepspeed;
    const bool script = is_shell_script(text); // which may write a file of settings
    if (object ? has("\"parallelism\"") : !script && (has("[parallelism]") || has("[training]")))
        return JobKind::torchtitan;
    if (is_titan_python(text))
        return JobKind::torchtitan;
    if (object || is_other_tree(text))
        return std::nullopt;
    for (const std::string_view name :
         {"--hidden-size", "--tensor-model-parallel-size", "--tensor_model_parallel_size",
          "--hidden_size", "model.tensor_model_parallel_size=", "MODEL_ARGS:", "pretrain_gpt.py",
          "megatron_gpt_pretraining", "megatron sft", "megatron pt", "megatron rlhf"})
        if (has(name))
            return JobKind::megatron;
    for (const std::string_view launcher :
         {"torchrun", "torch.distributed.run", "torch.distributed.launch", "accelerate launch",
          "deepspeed ", "llamafactory-cli", "axolotl train", "colossalai run", "swift sft",
          "swift rlhf", "oumi train", "ft_launcher", "composer train", "composer -n", "tune run",
          "--per_device_train_batch_size", "--model_name_or_path", "--job.config_file"})
        if (has(launcher))
            return JobKind::torchrun;
    // One that may start another script which does.
    if (script && (has("sbatch ") || has("srun ")) && starts_a_script(text))
        return JobKind::torchrun;
    return std::nullopt;
}

namespace {

// The model given beside, read for its sizes.
void take_model(JobContext& context)
{
    const Source& source = context.options.model;
    JobDraft& draft = context.draft;
    if (!source.given())
        return;
    ScenarioFile place;
    place.base = context.options.folder;
    const Checked<Input> input = find_input(source, InputKind::model, place);
    const Checked<Model> model =
        input ? read_model(input->json, input->file) : Checked<Model>(tl::unexpect, input.error());
    if (!model) {
        append(draft.problems, model.error());
        return;
    }
    draft.scenario.model = source;
    draft.model = *model;
    add_note(draft.notes.understood, fmt::format("model {}, given beside",
                                                 source.path.empty() ? model->name : source.path));
}

// Variables that change a step or a path stay; one that would be refused stays out, with the
// reason.
void settle_environment(JobDraft& draft)
{
    auto& environment = draft.scenario.environment;
    for (const Diagnostic& problem : check_environment(environment)) {
        const std::string name = problem.pointer.substr(problem.pointer.rfind('/') + 1);
        const auto found = environment.find(name);
        if (found == environment.end() || (is_read(name) && problem.severity == Severity::warning))
            continue;
        auto& list =
            problem.severity == Severity::error ? draft.notes.flagged : draft.notes.ignored;
        add_note(list, fmt::format("environment {}={}: {}", name, found->second, problem.message));
        environment.erase(found);
    }
    for (const auto& [name, value] : environment)
        add_note(draft.notes.understood, fmt::format("environment {}={}", name, value));
}

// What the readers left open because it depends on the machines.
void settle_sizes(JobContext& context)
{
    JobDraft& draft = context.draft;
    Training& training = draft.scenario.training;
    const int replicas = context.replicas();
    if (training.global_batch == 0 && replicas > 0) {
        const std::int64_t passes = draft.size.accumulation;
        training.global_batch = replicas * passes * training.micro_batch;
        draft.assume(
            fmt::format("batch of {}: {} of {} on each of {} replicas", training.global_batch,
                        passes == 1 ? "one micro-batch" : fmt::format("{} micro-batches", passes),
                        training.micro_batch, replicas));
    } else if (training.global_batch ==
               0) // the sizes do not divide the GPUs: told when they resolve
        training.global_batch =
            std::max<std::int64_t>(1, training.micro_batch * draft.size.accumulation);
    if (!draft.scenario.strategy.dp && replicas > 0 && context.leaves_gpus_idle())
        draft.scenario.strategy.dp = replicas;
}

// The scenario as a file would give it, so that it is checked like one.
Checked<ScenarioFile> as_file(const JobContext& context)
{
    Scenario scenario = context.draft.scenario;
    if (!scenario.model.given() && context.draft.model)
        scenario.model = {{}, write_model(*context.draft.model)};
    Json json = to_json(scenario);
    // The folder of the paths in it is not that of the job's file.
    ScenarioFile place;
    place.base = context.options.folder;
    Problems missing;
    for (const Override& change : context.options.changes)
        append(missing, write_out_part(json, change.field, place));
    if (!missing.empty())
        return tl::unexpected(std::move(missing));
    Checked<ScenarioFile> file =
        scenario_from(std::move(json), context.draft.file(), context.options.changes);
    if (file)
        file->base = context.options.folder;
    return file;
}

// Problems of the scenario, told of the settings they came from. Files named beside keep theirs.
// Fields that --set changed are told of it.
Problems told(Problems problems, const JobContext& context)
{
    for (Diagnostic& problem : problems) {
        if (!problem.file.empty() && problem.file != context.draft.file())
            continue;
        const auto& changes = context.options.changes;
        const auto change = std::find_if(changes.begin(), changes.end(), [&](const auto& one) {
            return JobDraft::pointer_of(one.field) == problem.pointer;
        });
        if (change == changes.end())
            context.draft.locate_origin(problem);
        else
            problem.file = fmt::format("--set {}={}", change->field, change->value);
    }
    return problems;
}

// A launch where a configuration was asked for.
void point_at_launch(JobKind asked, const std::string& text, JobDraft& draft)
{
    const std::optional<JobKind> kind = recognise_job(text);
    const bool of_a_file = asked == JobKind::deepspeed || asked == JobKind::torchtitan;
    const bool launches = kind == JobKind::torchrun || kind == JobKind::megatron;
    if (of_a_file && launches && has_errors(draft.problems))
        draft.problems.insert(
            draft.problems.begin(),
            {draft.file(), 0, "", "looks like a script that starts a job, not like its settings",
             "trainyard import torchrun FILE reads the launch and what it names", Severity::error});
}

Checked<ImportedJob> finished(JobContext& context, StageMemos& memos)
{
    JobDraft& draft = context.draft;
    context.gpus(); // tells what is wrong with the machines too
    if (!has_errors(draft.problems))
        settle_sizes(context);
    settle_environment(draft);
    if (has_errors(draft.problems))
        return tl::unexpected(draft.problems);
    // A warning of the reading may be the reason of what the scenario lacks.
    const auto refused = [&](const Problems& problems) {
        Problems all = draft.problems;
        append(all, told(problems, context));
        return tl::unexpected(std::move(all));
    };
    Checked<ScenarioFile> file = as_file(context);
    if (!file)
        return refused(file.error());
    Checked<Parts> parts = build_job_parts(*file, memos);
    if (!parts)
        return refused(parts.error());
    Problems warnings = std::move(draft.problems);
    append(warnings, told(std::move(parts->warnings), context));
    return ImportedJob{std::move(*file), std::move(parts->job), std::move(draft.notes),
                       std::move(draft.places), std::move(warnings)};
}

} // namespace

Checked<ImportedJob> import_job(JobKind kind, const std::string& text, const std::string& file,
                                const JobImportOptions& options, StageMemos& memos)
{
    JobDraft draft(file);
    JobContext context(draft, options, memos);
    take_model(context);
    switch (kind) {
    case JobKind::megatron:
        read_megatron_job(text, context);
        break;
    case JobKind::deepspeed:
        read_deepspeed_job(text, context);
        break;
    case JobKind::torchtitan:
        read_torchtitan_job(text, context);
        break;
    case JobKind::torchrun:
        read_torchrun_job(text, context);
        break;
    }
    point_at_launch(kind, text, draft);
    return finished(context, memos);
}

} // namespace trainyard
