#include "sim/cli/file_kinds.h"

#include "sim/base/fields.h"
#include "sim/cost/profile_library.h"
#include "sim/cost/profile_schema.h"
#include "sim/study/inputs.h"
#include "sim/study/record.h"
#include "sim/study/session.h"
#include "sim/topology/presets.h"
#include "sim/topology/read_topology.h"
#include "sim/workload/model_reader.h"

#include <algorithm>
#include <filesystem>

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
