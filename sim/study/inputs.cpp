#include "sim/study/inputs.h"

#include "sim/base/build_info.h"
#include "sim/base/files.h"
#include "sim/base/input_limits.h"
#include "sim/base/json_syntax.h"
#include "sim/base/spelling.h"

#include <fmt/core.h>

#include <algorithm>

namespace trainyard {
namespace fs = std::filesystem;

namespace {

struct KindFacts {
    std::string_view word;
    std::string_view pointer;
    std::string_view shipped; // folder below the data directory
};

KindFacts facts(InputKind kind)
{
    switch (kind) {
    case InputKind::model:
        return {"model", "/model", "scenarios/models"};
    case InputKind::topology:
        return {"topology", "/topology", "topologies"};
    }
    return {};
}

std::vector<fs::path> candidates(const std::string& path, InputKind kind, const fs::path& base)
{
    const fs::path shipped = data_dir() / facts(kind).shipped;
    std::vector<fs::path> all;
    for (const fs::path& folder : {base, shipped, data_dir() / "scenarios"})
        for (const char* suffix : {"", ".json"})
            all.push_back((folder / (path + suffix)).lexically_normal());
    return all;
}

std::optional<fs::path> existing_file(const fs::path& candidate)
{
    std::error_code ignored;
    for (const fs::path& file : {candidate, candidate / "config.json", candidate / "model.json"})
        if (fs::is_regular_file(file, ignored))
            return file;
    return std::nullopt;
}

// Names of inputs beside where the file was looked for.
std::vector<std::string> neighbours(const fs::path& candidate)
{
    std::vector<std::string> names;
    std::error_code ignored;
    for (const fs::directory_entry& entry :
         fs::directory_iterator(candidate.parent_path(), ignored))
        if (existing_file(entry.path()))
            names.push_back(entry.path().filename().string());
    return names;
}

// Shipped models by the names that Hugging Face has for them.
std::vector<std::pair<std::string, fs::path>> published_models()
{
    std::vector<std::pair<std::string, fs::path>> out;
    const fs::path folder = data_dir() / facts(InputKind::model).shipped;
    for (const std::string& name : shipped_inputs(InputKind::model)) {
        const std::optional<fs::path> file = existing_file(folder / name);
        const Checked<Json> model = file ? read_json_file(file->string(), input_limits) : Json();
        const Json* const id = model ? model->find("_name_or_path") : nullptr;
        if (id != nullptr && id->is_string())
            out.emplace_back(id->as_string(), *file);
    }
    return out;
}

// "org/name" of a path into Hugging Face's cache, ".../models--org--name/snapshots/...", whatever
// stands there; else the path.
std::string published_name(const std::string& path)
{
    constexpr std::string_view folder = "models--";
    for (const fs::path& part : fs::path(path))
        if (std::string name = part.string(); name.starts_with(folder)) {
            name.erase(0, folder.size());
            if (const std::size_t between = name.find("--"); between != std::string::npos)
                name.replace(between, 2, "/");
            return name;
        }
    return path;
}

// The file that `path` means; nothing where there is none.
std::optional<fs::path> file_of(const std::string& path, InputKind kind, const fs::path& base)
{
    for (const fs::path& candidate : candidates(path, kind, base))
        if (std::optional<fs::path> file = existing_file(candidate))
            return file;
    if (kind != InputKind::model)
        return std::nullopt;
    const std::string name = published_name(path);
    for (auto& [id, file] : published_models())
        if (id == name || id.substr(id.find('/') + 1) == name)
            return file;
    return std::nullopt;
}

// What is wrong, and a way out.
struct Fault {
    std::string message;
    std::string hint;
};

// Why what stands at `path` is no file that can be read; nothing where nothing stands there.
std::optional<Fault> fault_of(const fs::path& path, InputKind kind)
{
    std::error_code error;
    const fs::file_status status = fs::status(path, error);
    const std::string name = fmt::format("\"{}\"", path.string());
    std::error_code ignored;
    if (status.type() == fs::file_type::not_found)
        return fs::is_symlink(path, ignored) ? std::optional(Fault{name + " links to nothing", ""})
                                             : std::nullopt;
    if (error)
        return Fault{fmt::format("cannot read {}: {}", name, error.message()), ""};
    if (fs::is_directory(status))
        return Fault{name + (kind == InputKind::model
                                 ? " is a folder without a config.json or model.json"
                                 : " is a folder, where a file is expected"),
                     ""};
    if (fs::is_fifo(status))
        return Fault{name + " is a pipe, which cannot be read more than once",
                     "save what comes out of it as a file"};
    return Fault{name + " is no file that can be read", ""};
}

// The inputs that `source` may have meant; empty where none is like it.
std::string likely_inputs(const Source& source, InputKind kind, const fs::path& base)
{
    const fs::path named(source.path);
    for (const fs::path& folder : {base, data_dir() / facts(kind).shipped}) {
        std::vector<std::string> names = neighbours((folder / named).lexically_normal());
        const std::string word = named.filename().string();
        std::string near = did_you_mean(word, names);
        // A name without its ending is compared without it: ".json" is no likeness.
        if (near.empty() && !named.has_extension()) {
            std::erase_if(names, [](const std::string& n) { return !n.ends_with(".json"); });
            for (std::string& name : names)
                name.resize(name.size() - std::string_view(".json").size());
            near = did_you_mean(word, names);
            near += near.empty() ? "" : ".json";
        }
        if (!near.empty())
            return fmt::format("did you mean \"{}\"?", (named.parent_path() / near).string());
    }
    std::vector<std::string> ids;
    if (kind == InputKind::model)
        for (const auto& [id, file] : published_models())
            ids.push_back(id);
    if (const std::string near = did_you_mean(source.path, ids); !near.empty())
        return fmt::format("did you mean \"{}\"?", near);
    const std::vector<std::string> family =
        names_beginning(named.filename().string(), shipped_inputs(kind));
    return family.size() == 1 ? fmt::format("did you mean \"{}\"?", family.front())
                              : suggestion("", family);
}

Diagnostic not_found(const Source& source, InputKind kind, const fs::path& base)
{
    const KindFacts about = facts(kind);
    const fs::path wanted = (base / source.path).lexically_normal();
    const Fault none{fmt::format("there is no {} \"{}\"", about.word, source.path),
                     fmt::format("looked for {} and among the shipped files ({}{})",
                                 wanted.string(), about.shipped,
                                 kind == InputKind::model ? ": trainyard model list" : "")};
    Fault fault = fault_of(wanted, kind).value_or(none);
    if (std::string likely = likely_inputs(source, kind, base); !likely.empty())
        fault.hint = std::move(likely);
    return {"",
            0,
            std::string(about.pointer),
            std::move(fault.message),
            std::move(fault.hint),
            Severity::error};
}

} // namespace

Checked<Json> read_model_file(const std::string& path)
{
    Checked<Json> json = read_json_file(path, input_limits);
    const std::optional<std::string> text =
        json ? std::nullopt : read_file_up_to(path, input_limits.max_bytes);
    const auto replaced = text ? without_python_numbers(*text) : std::nullopt;
    return replaced ? parse_json(*replaced, path, input_limits) : json;
}

Checked<Input> find_input(const Source& source, InputKind kind, const ScenarioFile& scenario)
{
    if (source.path.empty())
        return Input{source.value, scenario.file, json_hash(source.value),
                     std::string(facts(kind).pointer)};
    if (const auto file = file_of(source.path, kind, scenario.base)) {
        Checked<Json> json = kind == InputKind::model
                                 ? read_model_file(file->string())
                                 : read_json_file(file->string(), input_limits);
        if (!json)
            return tl::unexpected(json.error());
        const std::uint64_t hash = json_hash(*json);
        return Input{std::move(*json), file->string(), hash, {}};
    }
    Problems problems{not_found(source, kind, scenario.base)};
    locate(problems, scenario);
    return tl::unexpected(std::move(problems));
}

Problems in_its_file(Problems problems, const Input& input)
{
    for (Diagnostic& problem : problems)
        if (problem.file == input.file)
            problem.pointer = input.inside + problem.pointer;
    return problems;
}

std::vector<std::string> shipped_inputs(InputKind kind)
{
    std::vector<std::string> names;
    std::error_code ignored;
    for (const fs::directory_entry& entry :
         fs::directory_iterator(data_dir() / facts(kind).shipped, ignored))
    {
        // The name of a folder may have dots of its own: "llama-3.1-70b".
        if (entry.is_directory() && existing_file(entry.path()))
            names.push_back(entry.path().filename().string());
        else if (!entry.is_directory() && entry.path().extension() == ".json")
            names.push_back(entry.path().stem().string());
    }
    std::sort(names.begin(), names.end());
    return names;
}

} // namespace trainyard
