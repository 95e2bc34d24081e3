#include "sim/study/jobs/launch_program.h"

#include "sim/base/spelling.h"
#include "sim/study/jobs/launcher_settings.h"
#include "sim/study/jobs/megatron/megatron.h"
#include "sim/study/jobs/megatron/megatron_words.h"
#include "sim/study/jobs/named_model.h"
#include "sim/study/jobs/recipes/dialect.h"
#include "sim/study/jobs/recipes/read_recipe.h"
#include "sim/study/jobs/recipes/recipe_arguments.h"
#include "sim/study/jobs/structured_text.h"
#include "sim/study/jobs/torch/torchtitan.h"
#include "sim/study/jobs/torch/trainer_arguments.h"
#include "sim/study/jobs/training_purpose.h"
#include "sim/study/problems.h"

#include <algorithm>
#include <array>

namespace trainyard {
namespace {

constexpr std::string_view setting_letters =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.";

// A model of torchtitan's registry by the name of its configuration: "llama3_8b.toml".
Json titan_settings_named(const std::string& name)
{
    Json out = Json::object();
    const std::string stem = std::filesystem::path(name).stem().string();
    for (const TitanFlavor& one : titan_flavors()) {
        const std::string family = plain_name(one.family);
        const std::string plain = plain_name(stem);
        if (plain == family + plain_name(one.flavor)) {
            out["model"]["name"] = one.family;
            out["model"]["flavor"] = one.flavor;
        }
    }
    return out;
}

// torchtitan's file, with the arguments that override its values. Where it is not there its name
// tells the model and nothing else.
void read_titan_launch(const std::string& path, const Origin& origin, Arguments& arguments,
                       JobContext& context)
{
    const bool file = path.ends_with(".toml") || path.ends_with(".json") || path.ends_with(".py");
    const std::optional<std::string> text = file ? context.beside(path) : std::nullopt;
    Checked<Json> json =
        text ? titan_settings(*text, path, context) : Checked<Json>(titan_settings_named(path));
    if (!json) {
        append(context.draft.problems, json.error());
        return;
    }
    if (!text && json->members().empty() && !context.draft.model &&
        !context.draft.scenario.model.given() && !arguments.contains("--model.flavor"))
        return context.draft.refuse(origin, "holds the job, and is not there",
                                    "import it by itself; or --model FILE: all else is then as "
                                    "the arguments say, or torchtitan's defaults");
    context.draft.understand(origin, "the configuration of torchtitan");
    if (!text)
        context.draft.flag(fmt::format("the settings of {} are not read: its model is as its name "
                                       "says, all else torchtitan's defaults and the arguments",
                                       path));
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
    ArgumentValues values(arguments, context.draft);
    std::optional<std::int64_t> stage; // where the file does not lie there
    for (const std::string_view name : {"--zero-stage", "--ds-stage"})
        if (!stage && arguments.contains(name))
            stage = values.whole(name);
    const Checked<Json> json = deepspeed_config(path, stage, context);
    if (!json) {
        append(context.draft.problems, json.error());
        return;
    }
    context.draft.understand({config.line, config.text()}, "the configuration of DeepSpeed");
    // Its own values win; "auto" means those of the trainer.
    read_trainer_arguments(arguments, context, TrainerFor::deepspeed);
    Json own = *json;
    own.set_lines(0);
    SettingTree settings(std::move(own));
    read_deepspeed(settings, context);
}

// DeepSpeed-Chat, OpenRLHF and others make the configuration of their arguments.
void read_zero_arguments(std::string_view stage_name, Arguments& arguments, JobContext& context)
{
    ArgumentValues values(arguments, context.draft);
    const auto stage = values.whole(stage_name);
    if (!stage)
        values.refuse_unknown(stage_name);
    constexpr std::array<std::string_view, 5> formats{"--bf16", "--fp16", "--dtype", "--precision",
                                                      "--mixed-precision"};
    if (std::ranges::none_of(formats,
                             [&](std::string_view one) { return arguments.contains(one); })) {
        arguments.add({"--fp16", {}, 0});
        context.draft.assume("fp16, as DeepSpeed-Chat's programs have it where no argument says");
    }
    Json config = Json::object();
    config["zero_optimization"]["stage"] = stage.value_or(0);
    for (const std::string_view name :
         {"--offload", "--adam-offload", "--offload-optimizer", "--cpu-offload"})
        if (values.on(name)) {
            context.draft.understand(values.origin(name), "states of the optimizer on the host");
            config["zero_optimization"]["offload_optimizer"]["device"] = "cpu";
        }
    config["bf16"]["enabled"] = "auto"; // the other arguments say
    context.draft.understand(values.origin(stage_name), "the configuration of DeepSpeed");
    read_trainer_arguments(arguments, context, TrainerFor::deepspeed);
    SettingTree settings(std::move(config));
    read_deepspeed(settings, context);
}

bool is_recipe_path(std::string_view path)
{
    return path.ends_with(".yaml") || path.ends_with(".yml");
}

// What a command says is said over the recipe that it names: "--learning_rate 1e-5", "bf16=true".
Arguments said_over(const Launch& launch, const RecipeDialect& dialect, JobContext& context)
{
    Json tree = Json::object();
    const auto put = [&](std::string name, Json value, int line) {
        std::replace(name.begin(), name.end(), '-', '_');
        value.set_lines(line);
        tree[name.substr(std::min(name.find_first_not_of("_+"), name.size()))] = std::move(value);
    };
    const Arguments options(launch.arguments);
    for (const Argument& one : options.unseen()) {
        Json::Array values(one.values.begin(), one.values.end());
        put(one.name,
            values.empty()       ? Json(true)
            : values.size() == 1 ? values.front()
                                 : Json(std::move(values)),
            one.line);
    }
    for (const TracedText& word : launch.arguments)
        if (const std::size_t equals = word.text.find('=');
            equals != std::string::npos && !word.text.starts_with('-'))
            put(word.text.substr(0, equals), word.text.substr(equals + 1), word.line());
    return recipe_arguments(tree, dialect, tree, context.options.defined);
}

void read_recipe_of(const Launch& launch, const std::string& text, JobContext& context)
{
    read_recipe(text, context, [&](const RecipeDialect& dialect, Arguments& arguments) {
        const Arguments over = said_over(launch, dialect, context);
        for (const Argument& one : over.unseen())
            if (one.line > 0)
                arguments.add(one);
        if (has_launcher_settings(launch))
            read_launcher_settings(launch, arguments, context);
    });
}

// "--config job.yaml" of a program that takes its arguments from there.
bool read_configured(const Launch& launch, const Arguments& arguments, JobContext& context)
{
    for (const std::string_view name : {"--config", "-c"}) {
        const Argument* const config = arguments.last(name);
        if (config == nullptr || config->values.empty() || !is_recipe_path(config->values.front()))
            continue;
        const std::optional<std::string> text = context.beside(config->values.front());
        if (!text || !recognise_recipe(*text))
            continue;
        read_recipe_of(launch, *text, context);
        return true;
    }
    return false;
}

// "llamafactory-cli train job.yaml"
bool read_named_recipe(const Launch& launch, JobContext& context)
{
    const std::string path =
        launch.arguments.empty() ? std::string() : launch.arguments.front().text;
    if (!is_recipe_path(path))
        return false;
    const std::optional<std::string> text = context.beside(path);
    if (text) {
        read_recipe_of(launch, *text, context);
        return true;
    }
    take_named_model(path, {0, path}, context);
    if (!context.draft.model) {
        context.draft.refuse({0, path}, "holds the job, and is not there",
                             "import it by itself; or --model FILE: all else is then as the "
                             "arguments say, or as Hugging Face's Trainer has it");
        return true;
    }
    context.draft.settings_elsewhere = true;
    context.draft.flag(fmt::format("the settings of {} are not read: all that the arguments do not "
                                   "say is as Hugging Face's Trainer has it",
                                   path));
    return false;
}

// The nodes and GPUs that Ray gives to what trains.
void take_actors(Arguments& arguments, JobDraft& draft)
{
    ArgumentValues values(arguments, draft);
    const auto take = [&](std::string_view name, std::optional<int>& size) {
        const auto count = arguments.contains(name) ? values.whole(name) : std::nullopt;
        if (!count || size || *count < 1 || *count > 1'000'000)
            return;
        size = static_cast<int>(*count);
        draft.understand(values.origin(name), "the launch");
    };
    take("--actor-num-nodes", draft.size.nodes);
    take("--actor-num-gpus-per-node", draft.size.gpus_per_node);
}

} // namespace

std::optional<int> deepspeed_stage_in(std::string_view path)
{
    for (int stage = 0; stage <= 3; ++stage) {
        for (const std::string_view word : {"zero", "stage", "z", "zero_", "zero-", "stage_"})
            if (path.find(fmt::format("{}{}", word, stage)) != std::string_view::npos)
                return stage;
        const std::size_t letter = path.find(fmt::format("_s{}", stage)); // "config_s2.json"
        if (letter != std::string_view::npos &&
            (letter + 3 == path.size() || path[letter + 3] == '.' || path[letter + 3] == '_'))
            return stage;
    }
    return std::nullopt;
}

Checked<Json> deepspeed_config(const std::string& path, std::optional<std::int64_t> stated_stage,
                               JobContext& context)
{
    const bool file = path.find('.') != std::string::npos;
    if (const std::optional<std::string> text = file ? context.beside(path) : std::nullopt)
        return parse_json(*text, path);
    context.draft.settings_elsewhere = true;
    Json out = Json::object();
    const std::optional<int> stage = deepspeed_stage_in(path.substr(path.rfind('/') + 1));
    out["zero_optimization"]["stage"] = stated_stage.value_or(stage.value_or(0));
    out["bf16"]["enabled"] = "auto"; // the arguments say
    context.draft.assume(
        stated_stage ? fmt::format("ZeRO {}, as the arguments say: {} is not there", *stated_stage,
                                   path.empty() ? "the configuration" : path)
        : stage      ? fmt::format("ZeRO {}, as {} is called", *stage, path)
                     : fmt::format("ZeRO 0: {} is not there, and its name says nothing", path));
    return out;
}

void add_dotted_settings(const Launch& launch, Arguments& arguments, JobContext& context)
{
    Json tree = Json::object();
    for (const TracedText& word : launch.arguments) {
        const std::size_t equals = word.text.find('=');
        const std::size_t dot = word.text.find('.');
        const std::size_t first = word.text.find_first_not_of('+');
        if (equals == std::string::npos || dot == std::string::npos || dot > equals ||
            first == std::string::npos ||
            word.text.substr(first, equals - first).find_first_not_of(setting_letters) !=
                std::string::npos)
            continue;
        Json value(word.text.substr(equals + 1));
        value.set_lines(word.line());
        tree[word.text.substr(first, equals - first)] = std::move(value);
    }
    const RecipeDialect* const dialect = dialect_named("Megatron-Bridge");
    if (tree.members().empty() || dialect == nullptr)
        return;
    const Arguments said = recipe_arguments(tree, *dialect, tree, context.options.defined);
    for (const Argument& one : said.unseen())
        arguments.add(one);
}

void read_megatron_program(const Launch& launch, Arguments& arguments, JobContext& context)
{
    const RecipeDialect* own = dialect_of_program(launch.program);
    if (own == nullptr)
        own = dialect_of_arguments(arguments);
    if (own != nullptr && own->words == RecipeWords::megatron) {
        put_in_own_words(arguments, context.draft);
        if (launch.program == "megatron rlhf" && !arguments.contains("--rlhf-type"))
            arguments.add({"--rlhf-type", {"dpo"}, 0});
        add_unsaid(*own, {}, arguments);
        tell_unsaid(*own, arguments, context.draft);
        take_actors(arguments, context.draft);
    }
    read_megatron(arguments, launch.program, context);
}

void read_program(const Launch& launch, JobContext& context)
{
    Arguments arguments(launch.arguments);
    add_dotted_settings(launch, arguments, context);
    const bool titan = launch.program.find("torchtitan") != std::string::npos;
    for (const std::string_view name : {"--job.config-file", "--job.config", "--config"})
        if (arguments.contains(name) && (titan || name != "--config")) {
            const Argument config = *arguments.find(name);
            arguments.find("--module");
            read_titan_launch(config.values.empty() ? std::string() : config.values.front(),
                              {config.line, config.text()}, arguments, context);
            return;
        }
    const RecipeDialect* own = dialect_of_program(launch.program);
    if (own == nullptr)
        own = dialect_of_arguments(arguments);
    if (megatron_names(arguments) >= 2 || (own != nullptr && own->words == RecipeWords::megatron))
        return read_megatron_program(launch, arguments, context);
    if (read_named_recipe(launch, context) || read_configured(launch, arguments, context))
        return;
    if (has_launcher_settings(launch))
        read_launcher_settings(launch, arguments, context);
    read_fsdp_config(arguments, context);
    if (own != nullptr) {
        add_unsaid(*own, {}, arguments);
        tell_unsaid(*own, arguments, context.draft);
    }
    flag_purpose_of(launch.program, context.draft);
    read_trainer_program(arguments, context);
    const std::vector<std::string> found = arguments.sought().found;
    const bool model_alone = std::ranges::all_of(found, [](const std::string& name) {
        return name.starts_with("--model") && name != "--model-max-length";
    });
    if (!model_alone || context.draft.settings_elsewhere)
        return;
    if (launch.launcher.empty()) // what converts a model names one too
        context.draft.refuse({launch.line, launch.program},
                             "starts something, and none of its arguments is known here",
                             "give the line that starts the training");
    else
        context.draft.flag(fmt::format("line {}: no argument of {} says anything of the job: "
                                       "its batch, length and format are defaults",
                                       launch.line, launch.program));
}

void read_trainer_program(Arguments& arguments, JobContext& context)
{
    for (const std::string_view name :
         {"--deepspeed-config", "--deepspeed-config-file", "--deepspeed", "--ds-config",
          "--ds-config-path", "--ds-config-file", "--ds-file"})
        if (const Argument* config = arguments.contains(name) ? arguments.find(name) : nullptr;
            config != nullptr && !config->values.empty())
        {
            read_deepspeed_launch(Argument(*config), arguments, context);
            return;
        }
    const bool colossal = arguments.contains("--plugin"); // ColossalAI shards by itself
    for (const std::string_view name : {"--zero-stage", "--ds-stage"})
        if (arguments.contains(name) && !colossal)
            return read_zero_arguments(name, arguments, context);
    read_trainer_arguments(arguments, context, TrainerFor::torch);
}

} // namespace trainyard
