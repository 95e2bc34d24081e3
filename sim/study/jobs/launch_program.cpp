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
#include "sim/study/jobs/torch/deepspeed_launch.h"
#include "sim/study/jobs/torch/torchtitan.h"
#include "sim/study/jobs/torch/trainer_arguments.h"
#include "sim/study/jobs/training_purpose.h"
#include "sim/study/problems.h"

#include <algorithm>
#include <array>

namespace trainyard {
namespace {

constexpr std::string_view not_there = "holds the job, and is not there";
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
        return context.draft.refuse(origin, std::string(not_there),
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

} // namespace

bool read_hydra_recipe(const Launch& launch, Arguments& arguments, JobContext& context)
{
    const auto value = [&](std::string_view name) {
        const Argument* const said = arguments.last(name);
        return said == nullptr || said->values.empty() ? std::string() : said->values.front();
    };
    const std::string name = value("--config-name");
    if (name.empty() || !shipped_model_named(name).empty()) // a model that starts anew
        return false;
    const std::string file = is_recipe_path(name) ? name : name + ".yaml";
    const std::string folder = value("--config-path");
    const std::string path = folder.empty() ? file : folder + "/" + file;
    const std::optional<std::string> text = context.find_beside(path);
    if (text && recognise_recipe(*text)) {
        read_recipe_of(launch, *text, context);
        return true;
    }
    context.draft.settings_elsewhere = true;
    context.draft.flag(fmt::format("the settings of {} are not read", path));
    context.draft.unread_settings = {{arguments.last("--config-name")->line, path},
                                     path,
                                     text ? "is none of the recipes known here" : not_there};
    arguments.find("--config-name");
    arguments.find("--config-path");
    return false;
}

bool read_recipe_at(const std::string& path, const Launch& launch, JobContext& context)
{
    const std::optional<std::string> text = context.beside(path);
    if (!text || !recognise_recipe(*text))
        return false;
    read_recipe_of(launch, *text, context);
    return true;
}

namespace {

// "--config job.yaml" of a program that takes its arguments from there.
bool read_configured(const Launch& launch, Arguments& arguments, JobContext& context)
{
    for (const std::string_view name : {"--config", "-c"}) {
        const Argument* const config = arguments.last(name);
        const auto is_setting = [](const std::string& word) {
            return word.find('=') != std::string::npos; // "--config job.yaml batch_size=4"
        };
        if (config == nullptr || config->values.empty() || is_setting(config->values.front()) ||
            !std::all_of(config->values.begin() + 1, config->values.end(), is_setting))
            continue;
        const std::string path = config->values.front();
        const bool named = name == "--config" && path.find_first_not_of("0123456789") == 0;
        if (!named && path.find_first_of("./") == std::string::npos)
            continue; // "-c 8"
        const bool recipe = is_recipe_path(path);
        const std::optional<std::string> text = recipe ? context.beside(path) : std::nullopt;
        if (text && recognise_recipe(*text)) {
            read_recipe_of(launch, *text, context);
            return true;
        }
        arguments.find(name);
        context.draft.settings_elsewhere = true;
        context.draft.flag(fmt::format("the settings of {} are not read", path));
        context.draft.unread_settings = {{config->line, fmt::format("{} {}", name, path)},
                                         path,
                                         text || (!recipe && context.find_beside(path))
                                             ? "is none of the recipes known here"
                                             : not_there};
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
        context.draft.refuse({0, path}, std::string(not_there),
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

void add_dotted_settings(const Launch& launch, Arguments& arguments, JobContext& context)
{
    // Of programs that are known to take them, names without a dot are settings too.
    const RecipeDialect* const own = dialect_of_launch(launch.launcher, launch.program);
    const bool keyed = own != nullptr && !own->keys.empty();
    Json tree = Json::object();
    for (const TracedText& word : launch.arguments) {
        const std::size_t equals = word.text.find('=');
        const std::size_t dot = word.text.find('.');
        const std::size_t first = word.text.find_first_not_of('+');
        if (equals == std::string::npos || (!keyed && dot > equals) || first == std::string::npos ||
            word.text.substr(first, equals - first).find_first_not_of(setting_letters) !=
                std::string::npos)
            continue;
        const std::string name = word.text.substr(first, equals - first);
        const std::string text = word.text.substr(equals + 1);
        const bool on = text == "True" || text == "true";
        Json value = on || text == "False" || text == "false" ? Json(on) : Json(text);
        value.set_lines(word.line());
        tree[name] = std::move(value);
    }
    const RecipeDialect* const dialect = keyed ? own : dialect_named("Megatron-Bridge");
    if (tree.members().empty() || dialect == nullptr)
        return;
    const Arguments said = recipe_arguments(tree, *dialect, tree, context.options.defined);
    for (const Argument& one : said.unseen())
        if (one.line > 0 || !arguments.contains(one.name))
            arguments.add(one);
    if (!context.draft.size.nodes && !context.draft.size.gpus_per_node) // of the launch go before
        take_recipe_sizes(arguments, context.draft);
}

void read_megatron_program(const Launch& launch, Arguments& arguments, JobContext& context)
{
    const RecipeDialect* own = dialect_of_launch(launch.launcher, launch.program);
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
    if (launch.program == "bash" || launch.program == "sh") // a script that could not be read
        for (const TracedText& word : launch.arguments)
            if (word.text.ends_with(".sh"))
                context.draft.unread_settings = {{launch.line, word.text}, word.text, not_there};
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
    const RecipeDialect* own = dialect_of_launch(launch.launcher, launch.program);
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
