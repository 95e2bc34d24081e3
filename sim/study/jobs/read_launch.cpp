// Jobs given as scripts: the launch, and the reader of what it starts.

#include "sim/study/jobs/job_readers.h"
#include "sim/study/jobs/megatron/megatron.h"
#include "sim/study/jobs/structured_text.h"
#include "sim/study/jobs/torch/trainer_arguments.h"
#include "sim/study/problems.h"

#include <algorithm>
#include <array>
#include <functional>

namespace trainyard {
namespace {

constexpr std::size_t longest_script = std::size_t{1} << 20;

// Variables that libraries read; a script's own are not taken over.
constexpr std::array<std::string_view, 9> library_prefixes{
    "NCCL_", "CUDA_", "TORCH_NCCL_", "PYTORCH_", "NVTE_", "OMP_", "UCX_", "NVSHMEM_", "GLOO_"};

void take_size(std::optional<int>& size, const std::optional<LaunchSize>& stated,
               std::string_view what, JobDraft& draft)
{
    if (!stated)
        return;
    size = stated->value;
    draft.understand({stated->line, fmt::format("{} {}", stated->value, what)}, "the launch");
}

void take_environment(const Launch& launch, JobDraft& draft)
{
    for (const auto& [name, value] : launch.environment) {
        const bool library = std::any_of(
            library_prefixes.begin(), library_prefixes.end(),
            [&name = name](std::string_view prefix) { return name.starts_with(prefix); });
        const Origin origin{value.line(), fmt::format("{}={}", name, value.text)};
        if (!library)
            draft.ignore(origin, "no variable of a library");
        else if (has_unknown(value.text))
            draft.flag(fmt::format("line {}: {}={}: not known here, left out", value.line(), name,
                                   value.text));
        else
            draft.scenario.environment[name] = value.text;
    }
}

// torchtitan's file, with the arguments that override its values.
void read_titan_launch(const Argument& config, Arguments& arguments, JobContext& context)
{
    const std::string path = config.values.empty() ? std::string() : config.values.front();
    Checked<Json> json = Json::object();
    if (const std::optional<std::string> text = context.beside(path))
        json = path.ends_with(".json") ? parse_json(*text, path) : parse_toml(*text, path);
    if (!json) {
        append(context.draft.problems, json.error());
        return;
    }
    context.draft.understand({config.line, config.text()}, "the configuration of torchtitan");
    json->set_lines(0);
    SettingTree settings(std::move(*json));
    for (const Argument& argument : arguments.unseen()) {
        const std::size_t dot = argument.name.find('.');
        if (dot == std::string::npos) {
            context.draft.ignore({argument.line, argument.text()}, "not known here");
            continue;
        }
        std::string name = argument.name.substr(2);
        std::replace(name.begin(), name.end(), '-', '_');
        const Checked<Json> value = argument.values.empty()
                                        ? Checked<Json>(Json(true))
                                        : parse_json(argument.values.front(), "argument");
        settings.set(name, value ? *value : Json(argument.values.front()), argument.line);
    }
    read_torchtitan(settings, context);
}

void read_deepspeed_launch(const Argument& config, Arguments& arguments, JobContext& context)
{
    const std::string path = config.values.empty() ? std::string() : config.values.front();
    const std::optional<std::string> text = context.beside(path);
    if (!text)
        return;
    const Checked<Json> json = parse_json(*text, path);
    if (!json) {
        append(context.draft.problems, json.error());
        return;
    }
    context.draft.understand({config.line, config.text()}, "the configuration of DeepSpeed");
    // Its own values win; "auto" means those of the trainer.
    read_trainer_arguments(arguments, context, TrainerFor::deepspeed);
    Json values = *json;
    values.set_lines(0);
    SettingTree settings(std::move(values));
    read_deepspeed(settings, context);
}

// By what its arguments name.
void read_program(const Launch& launch, JobContext& context)
{
    Arguments arguments(launch.arguments);
    const Argument* titan = nullptr;
    for (const std::string_view name : {"--job.config-file", "--job.config_file"})
        if (arguments.contains(name))
            titan = arguments.find(name);
    if (titan != nullptr) {
        read_titan_launch(Argument(*titan), arguments, context);
        return;
    }
    if (megatron_names(arguments) >= 2) {
        read_megatron(arguments, launch.program, context);
        return;
    }
    for (const std::string_view name : {"--deepspeed-config", "--deepspeed"})
        if (const Argument* config = arguments.contains(name) ? arguments.find(name) : nullptr;
            config != nullptr && !config->values.empty())
        {
            read_deepspeed_launch(Argument(*config), arguments, context);
            return;
        }
    read_trainer_arguments(arguments, context, TrainerFor::torch);
}

// A test's YAML: MODEL_ARGS and ENV_VARS; or any tree of settings in Megatron's words.
void read_yaml(const Json& root, JobContext& context)
{
    JobDraft& draft = context.draft;
    Arguments arguments;
    const std::function<void(const Json&)> collect = [&](const Json& node) {
        for (const Json::Member& member : node.members()) {
            const Json& value = member.second;
            if (value.is_object()) {
                collect(value);
                continue;
            }
            Argument argument;
            argument.name = member.first.starts_with("--") ? member.first : "--" + member.first;
            std::replace(argument.name.begin() + 2, argument.name.end(), '_', '-');
            argument.line = value.line();
            const auto add = [&](const Json& item) {
                argument.values.push_back(item.is_string() ? item.as_string()
                                                           : to_text(item, JsonStyle::compact));
            };
            if (value.is_array())
                for (const Json& item : value.items())
                    add(item);
            else if (!value.is_bool() && !value.is_null())
                add(value);
            if (!value.is_bool() || value.as_bool())
                arguments.add(std::move(argument));
        }
    };
    if (const Json* variables = root.find("ENV_VARS"); variables && variables->is_object())
        for (const Json::Member& member : variables->members()) {
            const std::string text = member.second.is_string()
                                         ? member.second.as_string()
                                         : to_text(member.second, JsonStyle::compact);
            draft.scenario.environment[member.first] = text;
        }
    const Json* model = root.find("MODEL_ARGS");
    collect(model != nullptr && model->is_object() ? *model : root);
    if (megatron_names(arguments) == 0)
        draft.refuse({}, "none of Megatron-LM's arguments is in it",
                     "a test's YAML has them under MODEL_ARGS");
    else
        read_megatron(arguments, "", context);
}

// A mapping, not a script: its first line that says anything is "key:".
bool looks_like_yaml(std::string_view text)
{
    while (!text.empty()) {
        const std::string_view line = text.substr(0, text.find('\n'));
        text = line.size() < text.size() ? text.substr(line.size() + 1) : std::string_view();
        const std::size_t first = line.find_first_not_of(" \t\r");
        if (first == std::string_view::npos || line[first] == '#' || line.starts_with("---"))
            continue;
        const std::size_t end = line.find_first_of(" \t=(\"'$");
        const std::string_view word = line.substr(first, end - first);
        return word.find(':') != std::string_view::npos &&
               (word.ends_with(':') || word.ends_with(":\r"));
    }
    return false;
}

} // namespace

std::optional<Launch> read_launch(const std::string& text, JobContext& context)
{
    JobDraft& draft = context.draft;
    if (text.size() > longest_script) {
        draft.refuse({}, "is too long for a script", "at most 1 MiB");
        return std::nullopt;
    }
    const Checked<ShellScript> script =
        read_shell(traced(text), draft.file(), context.options.defined);
    if (!script) {
        append(draft.problems, script.error());
        return std::nullopt;
    }
    for (const std::string& skipped : script->skipped)
        add_note(draft.notes.ignored, skipped);
    std::optional<Launch> launch = find_launch(*script);
    if (!launch && script->too_deep > 0) {
        draft.problems.push_back({draft.file(), script->too_deep, "",
                                  "expansions are nested too deeply to be read",
                                  "give the launch line with the values put in", Severity::error});
        return std::nullopt;
    }
    if (!launch) {
        std::string hint =
            "wanted: torchrun, srun, deepspeed or python with a program, or a list of arguments";
        for (const std::string& skipped : script->skipped)
            hint += fmt::format("; {}", skipped);
        draft.refuse({}, "no line of it starts a training program", hint);
        return std::nullopt;
    }
    for (const std::string& ignored : launch->ignored)
        add_note(draft.notes.ignored, ignored + ": of the launcher");
    for (const std::string& unknown : launch->unknown)
        draft.flag(unknown);
    take_size(draft.size.nodes, launch->nodes, "nodes", draft);
    take_size(draft.size.gpus_per_node, launch->gpus_per_node, "GPUs a node", draft);
    if (!draft.size.nodes && launch->ranks && draft.size.gpus_per_node &&
        launch->ranks->value % *draft.size.gpus_per_node == 0)
    {
        draft.size.nodes = launch->ranks->value / *draft.size.gpus_per_node;
        draft.understand({launch->ranks->line, fmt::format("{} ranks", launch->ranks->value)},
                         fmt::format("{} nodes", *draft.size.nodes));
    }
    take_environment(*launch, draft);
    return launch;
}

void read_megatron_job(const std::string& text, JobContext& context)
{
    JobDraft& draft = context.draft;
    if (looks_like_yaml(text)) {
        const Checked<Json> root = parse_yaml(text, draft.file());
        if (root && root->is_object())
            read_yaml(*root, context);
        else if (root)
            draft.refuse({}, "is no mapping of settings", "");
        else
            append(draft.problems, root.error());
        return;
    }
    const std::optional<Launch> launch = read_launch(text, context);
    if (!launch)
        return;
    Arguments arguments(launch->arguments);
    if (megatron_names(arguments) == 0)
        draft.refuse({launch->line, ""}, "none of Megatron-LM's arguments is in it",
                     "e.g. --num-layers, --tensor-model-parallel-size");
    else
        read_megatron(arguments, launch->program, context);
}

void read_torchrun_job(const std::string& text, JobContext& context)
{
    if (const std::optional<Launch> launch = read_launch(text, context))
        read_program(*launch, context);
}

} // namespace trainyard
