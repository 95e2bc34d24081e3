#include "sim/cli/file_kinds.h"

#include "sim/cost/profile_library.h"
#include "sim/cost/profile_schema.h"
#include "sim/study/record.h"
#include "sim/study/session.h"
#include "sim/topology/presets.h"
#include "sim/topology/read_topology.h"
#include "sim/workload/model_reader.h"

#include <array>

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

Problems check_scenario(const Json&, const std::string& path)
{
    const Checked<ScenarioFile> file = read_scenario_file(path);
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

Problems check_profile(const Json&, const std::string& path)
{
    const Checked<ProfileFile> file = load_profile(path);
    return file ? file->warnings : file.error();
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
        {"records", "trainyard.records/1", nullptr, check_records},
    };
    return kinds;
}

const FileKind* recognise(const Json& json)
{
    const auto kind_named = [](std::string_view name) -> const FileKind* {
        for (const FileKind& kind : file_kinds())
            if (kind.name == name)
                return &kind;
        return nullptr;
    };
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

} // namespace trainyard
