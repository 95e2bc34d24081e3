#include "sim/study/jobs/recipes/read_recipe.h"

#include "sim/study/jobs/job_readers.h"
#include "sim/study/jobs/launcher_settings.h"
#include "sim/study/jobs/manifest.h"
#include "sim/study/jobs/megatron/megatron.h"
#include "sim/study/jobs/named_model.h"
#include "sim/study/jobs/recipes/recipe_arguments.h"
#include "sim/study/jobs/structured_text.h"
#include "sim/study/jobs/torch/trainer_arguments.h"
#include "sim/study/problems.h"
#include "sim/workload/model_reader.h"

#include <algorithm>
#include <array>

namespace trainyard {
namespace {

// JSON, or a mapping of YAML in braces, as GPT-NeoX writes it: comments, commas before the end.
bool is_in_braces(std::string_view text)
{
    for (std::size_t at = 0; at < text.size(); ++at)
        if (text[at] == '#')
            at = std::min(text.find('\n', at), text.size());
        else if (std::string_view(" \t\r\n").find(text[at]) == std::string_view::npos)
            return text[at] == '{';
    return false;
}

// A mapping, not a script: its first line that says anything is "key:".
bool looks_like_yaml(std::string_view text)
{
    if (text.find("\n```") != std::string_view::npos)
        return false; // a page
    while (!text.empty()) {
        const std::string_view line = text.substr(0, text.find('\n'));
        text = line.size() < text.size() ? text.substr(line.size() + 1) : std::string_view();
        const std::size_t first = line.find_first_not_of(" \t\r");
        if (first == std::string_view::npos || line[first] == '#' || line.starts_with("---"))
            continue;
        std::string_view word = line.substr(first, line.find_first_of(" \t=(\"'$", first) - first);
        if (word.ends_with('\r'))
            word.remove_suffix(1);
        return word.size() > 1 && word.ends_with(':');
    }
    return false;
}

Checked<Json> parsed(std::string_view text, const std::string& file)
{
    Checked<Json> json = is_in_braces(text) ? parse_json(std::string(text), file)
                                            : parse_yaml(std::string(text), file);
    if (json || !is_in_braces(text))
        return json;
    Checked<Json> yaml = parse_yaml(std::string(text), file);
    return yaml ? std::move(yaml) : std::move(json);
}

// A whole number of the tree that is at least 1.
std::optional<std::int64_t> count_at(const Json& root, std::string_view name)
{
    const Json* const value = setting_at(root, name);
    constexpr std::int64_t most = 1'000'000;
    return value != nullptr && value->is_integer() && value->as_integer() >= 1 &&
                   value->as_integer() <= most
               ? std::optional(value->as_integer())
               : std::nullopt;
}

// nanotron's model is a configuration of its own in the tree.
Json without(const Json& tree, std::string_view name)
{
    Json out = Json::object();
    for (const Json::Member& member : tree.members())
        if (member.first != name)
            out[member.first] =
                member.second.is_object() ? without(member.second, name) : member.second;
    return out;
}

// Of all layers, or of all but those with global attention (StarCoder2), in Hugging Face's words.
void take_nanotron_window(const Json& root, Json& config)
{
    const auto window = count_at(root, "model.model_config.sliding_window_size");
    const auto layers = count_at(root, "model.model_config.num_hidden_layers");
    if (!window || !layers)
        return;
    Json kinds(Json::Array(static_cast<std::size_t>(*layers), Json("sliding_attention")));
    if (const Json* const all = config.find("global_attn_layers"); all && all->is_array())
        for (const Json& layer : all->items())
            if (layer.is_integer() && layer.as_integer() >= 0 && layer.as_integer() < *layers)
                kinds.items()[static_cast<std::size_t>(layer.as_integer())] = "full_attention";
    config["sliding_window"] = *window;
    config["layer_types"] = std::move(kinds);
}

// Experts in every layer, in Hugging Face's words; false: others, which these do not describe.
bool take_nanotron_experts(Json& config)
{
    const Json* const moe = config.find("moe_config");
    if (moe == nullptr || !moe->is_object())
        return true;
    const auto count = count_at(*moe, "num_experts");
    const auto top = count_at(*moe, "top_k");
    const Json* const shared = moe->find("enable_shared_expert");
    if (moe->find("layers") != nullptr || (shared && !(shared->is_bool() && !shared->as_bool())))
        return false;
    config["model_type"] = "mixtral";
    config["num_local_experts"] = count.value_or(8);
    config["num_experts_per_tok"] = top.value_or(2);
    if (const auto width = count_at(*moe, "moe_intermediate_size"))
        config["intermediate_size"] = *width;
    return true;
}

void take_nanotron_attention(const Json& sizes, JobDraft& draft)
{
    constexpr std::string_view place = "software.attention";
    std::optional<AttentionKernel>& kernel = draft.scenario.software.attention;
    const Json* const said = sizes.find("_attn_implementation");
    const std::string name = said && said->is_string() ? said->as_string() : "";
    const Origin origin{said != nullptr ? said->line() : 0, "_attn_implementation " + name};
    if (name == "flash_attention_2")
        draft.take(kernel, AttentionKernel::flash2, place, origin);
    else if (name == "sdpa")
        draft.take(kernel, AttentionKernel::sdpa, place, origin);
    else if (name.empty()) {
        kernel = AttentionKernel::flash2;
        draft.assume("attention by FlashAttention 2, nanotron's default");
    }
}

// nanotron states the ranks, the passes of each, and its model as Hugging Face's configuration.
void read_nanotron(const Json& root, Arguments& arguments, JobContext& context)
{
    JobDraft& draft = context.draft;
    const auto replicas = count_at(root, "parallelism.dp");
    const auto passes = count_at(root, "tokens.batch_accumulation_per_replica");
    const auto micro = count_at(root, "tokens.micro_batch_size");
    draft.size.replicas = replicas;
    if (replicas && micro)
        arguments.add({"--global-batch-size",
                       {std::to_string(*replicas * passes.value_or(1) * *micro)},
                       setting_at(root, "parallelism.dp")->line()});
    draft.assume("nanotron's layers and kernels as those of Megatron-Core");
    const Json* const sizes = setting_at(root, "model.model_config");
    if (sizes == nullptr || !sizes->is_object() || draft.scenario.model.given())
        return;
    Json config = *sizes;
    if (config.find("model_type") == nullptr)
        config["model_type"] = "llama";
    take_nanotron_window(root, config);
    if (!take_nanotron_experts(config))
        return draft.refuse({sizes->line(), "model.model_config.moe_config"},
                            "experts of some layers, or beside a shared one, are not read",
                            "--model FILE gives the model");
    take_nanotron_attention(*sizes, draft);
    const Checked<Model> model = read_model(config, draft.file());
    if (!model) {
        append(draft.problems, model.error());
        return;
    }
    draft.model = *model;
    draft.understand({sizes->line(), "model.model_config"}, "the model");
}

void take_size(std::string_view name, std::optional<int>& size, Arguments& arguments,
               JobDraft& draft)
{
    ArgumentValues values(arguments, draft);
    const auto count = arguments.contains(name) ? values.whole(name) : std::nullopt;
    if (count && *count >= 1 && *count <= 1'000'000)
        draft.take(size, *count, name.substr(2), values.origin(name));
}

void read_environment(const Json& root, JobDraft& draft)
{
    const Json* const variables = root.find("ENV_VARS");
    if (variables == nullptr || !variables->is_object())
        return;
    for (const Json::Member& member : variables->members())
        draft.scenario.environment[member.first] = member.second.is_string()
                                                       ? member.second.as_string()
                                                       : to_text(member.second, JsonStyle::compact);
}

// The part of the tree that has the job's settings.
const Json& job_part(const Json& root)
{
    for (const std::string_view name : {"MODEL_ARGS", "modules.pre_trainer", "modules.post_trainer",
                                        "parameters"}) // of a run of MosaicML's platform
        if (const Json* const part = setting_at(root, name); part != nullptr && part->is_object())
            return *part;
    return root;
}

// Primus may start torchtitan, whose settings the overrides are.
bool read_titan_overrides(const Json& part, JobContext& context)
{
    const Json* const framework = setting_at(part, "framework");
    const Json* const overrides = setting_at(part, "overrides");
    if (framework == nullptr || !framework->is_string() || framework->as_string() != "torchtitan")
        return false;
    if (const Json* const model = setting_at(part, "model"); model && model->is_string())
        take_named_model(model->as_string(), {model->line(), "model " + model->as_string()},
                         context);
    SettingTree settings(overrides != nullptr && overrides->is_object() ? *overrides
                                                                        : Json::object());
    if (!context.draft.unknown_model.empty())
        require_model(context, "the settings");
    else
        read_torchtitan(settings, context);
    return true;
}

// A Trainer's dump holds the configuration of DeepSpeed itself, not its name.
bool read_with_deepspeed(const Json& part, const RecipeDialect& dialect, JobContext& context,
                         const RecipeCompletion& complete)
{
    const Json* const config = setting_at(part, "deepspeed");
    if (config == nullptr || !config->is_object())
        return false;
    std::optional<Json> settled = *config;
    if (dialect.deepspeed != nullptr)
        settled = dialect.deepspeed(*config);
    if (!settled)
        return false;
    Json rest = Json::object();
    for (const Json::Member& member : part.members())
        if (&member.second != config)
            rest[member.first] = member.second;
    Arguments arguments = recipe_arguments(rest, dialect, rest, context.options.defined);
    if (complete)
        complete(dialect, arguments);
    tell_unsaid(dialect, arguments, context.draft);
    read_trainer_arguments(arguments, context, TrainerFor::deepspeed);
    SettingTree settings(std::move(*settled));
    read_deepspeed(settings, context);
    return true;
}

void read_tree(const Json& root, JobContext& context, const RecipeCompletion& complete)
{
    JobDraft& draft = context.draft;
    const RecipeDialect* const dialect = dialect_of(root);
    if (dialect == nullptr) {
        draft.refuse({}, "is no recipe of a job known here",
                     "Megatron-LM's tests (MODEL_ARGS), Megatron-Bridge, NeMo, Primus, nanotron, "
                     "GPT-NeoX, LLaMA-Factory, axolotl, Oumi, torchtune, LLM Foundry and Hugging "
                     "Face's Trainer "
                     "are");
        return;
    }
    draft.understand({0, fmt::format("a recipe of {}", dialect->name)},
                     "its settings as arguments");
    const Json& part = job_part(root);
    read_environment(root, draft);
    if (read_titan_overrides(part, context))
        return;
    const bool trainer = dialect->words == RecipeWords::trainer;
    if (trainer && read_with_deepspeed(part, *dialect, context, complete))
        return;
    const bool nanotron = dialect->name == "nanotron";
    Arguments arguments = recipe_arguments(nanotron ? without(part, "model_config") : part,
                                           *dialect, root, context.options.defined);
    if (dialect->own_words != nullptr)
        dialect->own_words(root, arguments, draft);
    if (complete)
        complete(*dialect, arguments);
    tell_unsaid(*dialect, arguments, draft);
    if (trainer) {
        read_fsdp_config(arguments, context);
        read_trainer_program(arguments, context);
        return;
    }
    take_recipe_sizes(arguments, draft);
    if (nanotron)
        read_nanotron(root, arguments, context);
    read_megatron(arguments, "", context);
}

} // namespace

void take_recipe_sizes(Arguments& arguments, JobDraft& draft)
{
    take_size("--num-nodes", draft.size.nodes, arguments, draft);
    take_size("--gpus-per-node", draft.size.gpus_per_node, arguments, draft);
}

bool is_tree(std::string_view text)
{
    return is_in_braces(text) || looks_like_yaml(text);
}

bool is_other_tree(std::string_view text)
{
    if (text.size() > longest_script || !looks_like_yaml(text))
        return false;
    const Checked<Json> root = parsed(text, "");
    return root && root->is_object() && dialect_of(*root) == nullptr &&
           root->find("apiVersion") == nullptr && !read_manifest(text);
}

bool is_recipe_of_no_training(std::string_view text)
{
    if (text.size() > longest_script || !is_tree(text))
        return false;
    const Checked<Json> root = parsed(text, "");
    const RecipeDialect* const dialect = root && root->is_object() ? dialect_of(*root) : nullptr;
    if (dialect == nullptr || dialect->words != RecipeWords::trainer)
        return false;
    const auto on = [&](std::string_view name) {
        const Json* const value = setting_at(*root, name);
        return value != nullptr && value->is_bool() && value->as_bool();
    };
    return (on("do_predict") && !on("do_train")) ||
           std::ranges::any_of(std::array<std::string_view, 3>{"infer_backend", "export_dir",
                                                               "peft_config.export_dir"},
                               [&](std::string_view name) { return setting_at(*root, name); });
}

std::optional<JobKind> recognise_recipe(std::string_view text)
{
    if (text.size() > longest_script || !is_tree(text))
        return std::nullopt;
    const Checked<Json> root = parsed(text, "");
    const RecipeDialect* const dialect = root && root->is_object() ? dialect_of(*root) : nullptr;
    if (dialect == nullptr)
        return std::nullopt;
    return dialect->words == RecipeWords::trainer ? JobKind::torchrun : JobKind::megatron;
}

void read_recipe(const std::string& text, JobContext& context, const RecipeCompletion& complete)
{
    JobDraft& draft = context.draft;
    const Checked<Json> root = parsed(text, draft.file());
    if (!root)
        append(draft.problems, root.error());
    else if (!root->is_object())
        draft.refuse({}, "is no mapping of settings", "");
    else
        read_tree(*root, context, complete);
}

} // namespace trainyard
