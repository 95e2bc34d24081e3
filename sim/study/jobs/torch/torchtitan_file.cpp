// torchtitan's configuration as a file of its own.

#include "sim/study/jobs/job_readers.h"
#include "sim/study/jobs/structured_text.h"
#include "sim/study/jobs/torch/python_settings.h"
#include "sim/study/jobs/torch/torchtitan.h"
#include "sim/study/problems.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>

namespace trainyard {
namespace {

// Where a family's name ends in that of a configuration, underscores aside; npos where it is not
// there, or another number goes on: "qwen35_4b" is none of qwen3.
std::size_t end_of_family(std::string_view name, std::string_view family)
{
    const auto end_from = [&](std::size_t at) {
        for (const char c : family) {
            while (c != '_' && at < name.size() && name[at] == '_')
                ++at;
            if (c != '_' && (at == name.size() || name[at++] != c))
                return std::string_view::npos;
        }
        return at < name.size() && std::isdigit(static_cast<unsigned char>(name[at])) != 0
                   ? std::string_view::npos
                   : at;
    };
    for (std::size_t from = 0; from < name.size(); ++from)
        if (from == 0 || name[from - 1] == '_')
            if (const std::size_t end = end_from(from); end != std::string_view::npos)
                return end;
    return std::string_view::npos;
}

// Converters of the model, where its registry is asked for it or beside it: their names as a list,
// what they are told under the name of each.
void name_converters(Json& values)
{
    const Json* list = nullptr;
    for (const char* const section : {"model_spec", "model_converters"})
        if (const Json* const part = values.find(section); part != nullptr && list == nullptr)
            list = part->find("converters");
    if (list == nullptr || !list->is_array())
        return;
    const Json converters = *list;
    Json names = Json::array();
    Json& out = values["model_converters"];
    if (!out.is_object())
        out = Json::object();
    for (const Json& one : converters.items()) {
        const Json* const called = one.find(called_name);
        if (called == nullptr)
            continue;
        const std::string name = called->as_string();
        names.push_back(name);
        Json options = one;
        Json* const layers = options.find("fqns");
        const Json* const chosen = layers != nullptr ? layers->find(called_name) : nullptr;
        const Json* const args = chosen != nullptr ? layers->find("args") : nullptr;
        // nvfp4_bf16_tail_fqns(layers, fraction): all but the last ones.
        if (args != nullptr && chosen->as_string() == "nvfp4_bf16_tail_fqns" &&
            args->items().size() == 2) {
            const Json fraction = args->items().back();
            options["bf16_tail_fraction"] = fraction;
            std::erase_if(options.members(),
                          [](const auto& member) { return member.first == "fqns"; });
        }
        out[name.substr(0, name.find('.'))] = std::move(options);
    }
    names.set_lines(converters.line());
    out["converters"] = std::move(names);
}

// Optimizers and losses by what makes them: _dist_muon_optimizer(...), ChunkedLossWrapper.Config().
void say_makers(Json& values)
{
    const auto maker = [&](std::string_view section) {
        const Json* const part = values.find(section);
        const Json* const called = part != nullptr ? part->find(called_name) : nullptr;
        return called != nullptr ? called->as_string() : std::string();
    };
    const auto say = [&](std::string_view section, std::string_view key, Json value) {
        const int line = values.find(section)->line();
        Json& said = values[section][key];
        said = std::move(value);
        said.set_line(line);
    };
    if (maker("optimizer").find("muon") != std::string::npos)
        say("optimizer", "name", Json("DistMuon"));
    if (maker("loss").starts_with("Chunked"))
        say("loss", "chunked", Json(true));
}

// What is said by which class is called: activation_checkpoint=FullAC.Config().
void say_calls(Json& values)
{
    Json* const recompute = values.find("activation_checkpoint");
    const Json* const kind = recompute != nullptr ? recompute->find(called_name) : nullptr;
    if (kind == nullptr)
        return;
    const std::string name = kind->as_string();
    const auto say = [&](std::string_view key, std::string_view value) {
        (*recompute)[key] = value;
        (*recompute)[key].set_line(recompute->line());
    };
    if (name.find("FullAC") != std::string::npos)
        say("mode", "full");
    else if (name.find("SelectiveAC") != std::string::npos) {
        say("mode", "selective");
        say("selective_ac_option", "op");
    } else if (name.find("MemoryBudgetAC") != std::string::npos)
        say("mode", "memory_budget");
}

void forget_calls(Json& values)
{
    if (values.is_array())
        for (Json& item : values.items())
            forget_calls(item);
    if (!values.is_object())
        return;
    std::erase_if(values.members(), [](const Json::Member& one) {
        return one.first == called_name || one.first == made_elsewhere ||
               one.first == passed_through;
    });
    for (Json::Member& member : values.members())
        forget_calls(member.second);
}

// model_spec=model_registry("8B"): the flavor; the family is that of the configuration's name. What
// else the registry is told stays beside.
void name_model(PythonSettings& config)
{
    Json* const spec = config.values.find("model_spec");
    const Json* const args = spec != nullptr ? spec->find("args") : nullptr;
    if (args == nullptr || args->items().empty() || !args->items().front().is_string())
        return;
    std::string_view family;
    for (const TitanFlavor& one : titan_flavors())
        if (one.family.size() > family.size() &&
            end_of_family(config.name, one.family) != std::string_view::npos)
            family = one.family;
    Json out = Json::object();
    out["name"] = family.empty() ? std::string_view(config.name) : family;
    out["flavor"] = args->items().front();
    for (Json::Member& member : out.members())
        member.second.set_line(args->items().front().line());
    for (const Json::Member& member : spec->members())
        if (member.first != "args" && member.first != "converters")
            out[member.first] = member.second;
    *spec = std::move(out);
}

Checked<Json> from_python(const std::string& text, const std::string& file, JobContext& context)
{
    std::vector<PythonSettings> configs = python_settings(text);
    std::erase_if(configs, [](const PythonSettings& one) {
        return one.values.find("training") == nullptr && one.values.find("model") == nullptr &&
               one.values.find("model_spec") == nullptr;
    });
    const auto wanted = context.options.defined.find("config");
    const auto chosen = std::find_if(configs.begin(), configs.end(), [&](const auto& one) {
        return wanted != context.options.defined.end() ? one.name == wanted->second
                                                       : configs.size() == 1;
    });
    if (chosen == configs.end()) {
        std::vector<std::string_view> names;
        for (const PythonSettings& one : configs)
            names.push_back(one.name);
        const std::string what = configs.empty() ? "holds no configuration of torchtitan"
                                 : wanted != context.options.defined.end()
                                     ? fmt::format("holds no configuration {}", wanted->second)
                                     : "holds several jobs";
        return tl::unexpected(Problems{
            {file, 0, "", what,
             configs.empty()
                 ? "wanted: NAME = Trainer.Config(...), or functions that return one"
                 : fmt::format("--define config=NAME takes one of {}", fmt::join(names, ", ")),
             Severity::error}});
    }
    if (const Json* const base = chosen->values.find(made_elsewhere))
        return rejected(file,
                        fmt::format("{} begins with {}(), which is not in this file", chosen->name,
                                    base->as_string()),
                        "import the file that defines it", chosen->values.line());
    context.draft.understand({chosen->values.line(), chosen->name}, "the configuration");
    if (const Json* const through = chosen->values.find(passed_through))
        context.draft.flag(
            fmt::format("{}() is not in this file: taken to change nothing", through->as_string()));
    say_calls(chosen->values);
    say_makers(chosen->values);
    name_converters(chosen->values);
    name_model(*chosen);
    forget_calls(chosen->values);
    return std::move(chosen->values);
}

} // namespace

Checked<Json> titan_settings(const std::string& text, const std::string& file, JobContext& context)
{
    const std::size_t first = text.find_first_not_of(" \t\r\n");
    if (first != std::string::npos && text[first] == '{')
        return parse_json(text, file);
    const bool python = is_titan_python(text) || file.ends_with(".py");
    return python ? from_python(text, file, context) : parse_toml(text, file);
}

bool is_titan_python(std::string_view text)
{
    const auto has = [&](std::string_view word) { return text.find(word) != std::string::npos; };
    return has("import") && has("torchtitan") && (has("Trainer.Config(") || has("JobConfig("));
}

void read_torchtitan_job(const std::string& text, JobContext& context)
{
    JobDraft& draft = context.draft;
    const Checked<Json> root = titan_settings(text, draft.file(), context);
    if (!root) {
        append(draft.problems, root.error());
        return;
    }
    if (root->members().empty()) {
        draft.refuse({}, "holds no settings",
                     "torchtitan's TOML or Python, or a JSON dump of its dataclasses");
        return;
    }
    SettingTree settings(*root);
    read_torchtitan(settings, context);
}

} // namespace trainyard
