#include "sim/api/file_kinds.h"

#include "sim/base/fields.h"
#include "sim/base/input_limits.h"
#include "sim/cost/profile_library.h"
#include "sim/cost/profile_schema.h"
#include "sim/study/inputs.h"
#include "sim/study/record.h"
#include "sim/study/session.h"
#include "sim/topology/presets.h"
#include "sim/topology/read_topology.h"
#include "sim/workload/model_reader.h"

#include <fmt/core.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>

namespace trainyard {
namespace {

template <class T>
Problems problems_of(const Checked<T>& checked)
{
    return checked ? Problems{} : checked.error();
}

Json scenario_schema()
{
    return fields_of<Scenario>().schema();
}

Problems check_scenario(const Json& json, const std::string& path)
{
    const Checked<ScenarioFile> file = scenario_from(json, path);
    return file ? Session().check(*file) : file.error();
}

Problems check_topology(const Json& json, const std::string& path)
{
    const Checked<Presets> presets = load_presets();
    if (!presets)
        return presets.error();
    const Checked<TopologyFile> file = inspect_topology(json, path, *presets);
    return file ? file->warnings : file.error();
}

Problems check_model(const Json& json, const std::string& path)
{
    return problems_of(read_model(json, path));
}

// A profile or a part of one, with the parts it names.
Problems check_profile(const Json&, const std::string& path)
{
    std::error_code ignored;
    if (!std::filesystem::is_regular_file(path, ignored))
        return {{path, 0, "", "a profile cannot be checked through a pipe",
                 "save it as a file: its parts are looked for beside it", Severity::error}};
    return check_profile_file(path);
}

Problems check_records(const Json& json, const std::string& path)
{
    const Checked<RecordFile> file = records_from(json, path);
    if (!file)
        return file.error();
    Problems problems;
    for (const UnreadableRecord& record : file->unreadable)
        problems.insert(problems.end(), record.problems.begin(), record.problems.end());
    return problems;
}

bool has_any(const Json& json, std::initializer_list<std::string_view> keys)
{
    return std::any_of(keys.begin(), keys.end(),
                       [&](std::string_view key) { return json.find(key) != nullptr; });
}

} // namespace

const std::vector<FileKind>& file_kinds()
{
    static const std::vector<FileKind> kinds{
        {"scenario", scenario_format, scenario_schema, check_scenario},
        {"topology", topology_format, topology_schema, check_topology},
        {"model", model_format, model_schema, check_model},
        {"profile", profile_format, profile_schema, check_profile},
        {"records", records_format, nullptr, check_records},
        {"device", device_format, nullptr, check_profile},
        {"fabric", fabric_format, nullptr, check_profile},
        {"network", network_format, nullptr, check_profile},
        {"collectives", collectives_format, nullptr, check_profile},
        {"gloo", gloo_format, nullptr, check_profile},
        {"ucx", ucx_format, nullptr, check_profile},
        {"nvshmem", nvshmem_format, nullptr, check_profile},
        {"mpi", mpi_format, nullptr, check_profile},
        {"interference", interference_format, nullptr, check_profile},
        {"kernels", kernels_format, kernels_schema, check_profile},
        {"knots", knots_format, nullptr, check_profile},
        {"storage", storage_format, nullptr, check_profile},
        {"host", host_format, nullptr, check_profile},
        {"software class", software_format, nullptr, check_profile},
    };
    return kinds;
}

namespace {

// Null when there is none of that name.
const FileKind* kind_named(std::string_view name)
{
    for (const FileKind& kind : file_kinds())
        if (kind.name == name)
            return &kind;
    return nullptr;
}

} // namespace

const FileKind* recognise(const Json& json)
{
    if (const Json* const format = json.find("format"); format != nullptr && format->is_string()) {
        const std::string& text = format->as_string();
        for (const FileKind& kind : file_kinds())
            if (text.substr(0, text.find('/')) == kind.format.substr(0, kind.format.find('/')))
                return &kind;
        return nullptr;
    }
    if (json.is_array() || has_any(json, {"records"}))
        return kind_named("records");
    if (has_any(json, {"model_type", "architectures", "transformer"}))
        return kind_named("model");
    if (has_any(json, {"training", "strategy"}))
        return kind_named("scenario");
    if (has_any(json, {"generator", "devices"}))
        return kind_named("topology");
    return has_any(json, {"hardware"}) ? kind_named("profile") : nullptr;
}

const FileKind* kind_with_schema(std::string_view name)
{
    const FileKind* const kind = kind_named(name);
    return kind != nullptr && kind->schema != nullptr ? kind : nullptr;
}

Json schema_document(const FileKind& kind)
{
    Json schema = Json::object();
    schema["$schema"] = "https://json-schema.org/draft/2020-12/schema";
    const Json body = kind.schema();
    for (const Json::Member& member : body.members())
        schema[member.first] = member.second;
    return schema;
}

std::vector<std::string> schema_names()
{
    std::vector<std::string> names;
    for (const FileKind& kind : file_kinds())
        if (kind.schema != nullptr)
            names.emplace_back(kind.name);
    return names;
}

namespace {

// Behind blanks and a byte order mark; nothing of a pipe, which can be read but once.
std::optional<char> first_of(const std::string& path)
{
    std::error_code ignored;
    if (!std::filesystem::is_regular_file(path, ignored))
        return std::nullopt;
    std::ifstream in(path);
    constexpr std::string_view mark = "\xef\xbb\xbf";
    char first = '\0';
    while (in >> first && mark.find(first) != std::string_view::npos)
        ;
    return in ? std::optional(first) : std::nullopt;
}

// Only lists of records may be large.
JsonLimits limits_of(const std::optional<char>& first)
{
    return !first || *first == '[' ? record_limits : input_limits;
}

// What only a model's file may hold is read where it is one.
Checked<Json> read_any_kind(const std::string& path, const std::optional<char>& first)
{
    Checked<Json> json = read_json_file(path, limits_of(first));
    if (json || !first)
        return json;
    Checked<Json> model = read_model_file(path);
    const FileKind* const kind = model ? recognise(*model) : nullptr;
    return kind != nullptr && kind->check == check_model ? model : json;
}

CheckedFile check_content(const std::string& path)
{
    CheckedFile out{path, "", {}};
    const std::optional<char> first = first_of(path);
    const Checked<Json> json = read_any_kind(path, first);
    if (!json && first && std::isprint(static_cast<unsigned char>(*first)) != 0 && *first != '{' &&
        *first != '[')
    {
        out.problems = {{path, 0, "",
                         "this is no JSON: scenarios, topologies, models, profiles "
                         "and records can be checked",
                         "logs, node topologies, jobs and traces are read by trainyard import",
                         Severity::error}};
        return out;
    }
    if (!json) {
        out.problems = json.error();
        return out;
    }
    const FileKind* const kind = recognise(*json);
    if (kind == nullptr) {
        std::string formats;
        for (const FileKind& known : file_kinds())
            formats += fmt::format("{}\"{}\"", formats.empty() ? "" : ", ", known.format);
        out.problems.push_back({path, json->line(), "", "this is no kind of file known here",
                                fmt::format("say which with \"format\": one of {}", formats),
                                Severity::error});
        return out;
    }
    out.kind = kind->name;
    out.problems = kind->check(*json, path);
    return out;
}

} // namespace

// A file that cannot be read does not keep the others from being checked.
CheckedFile check_file(const std::string& path)
{
    try {
        return check_content(path);
    } catch (const WorldError& error) {
        return {path, "", {{"", 0, "", error.message, "", Severity::error}}, false};
    }
}

} // namespace trainyard
