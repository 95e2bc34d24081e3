#include "sim/api/scenarios.h"

#include "sim/base/input_limits.h"
#include "sim/study/inputs.h"
#include "sim/study/problems.h"
#include "sim/study/session.h"

namespace trainyard {

Checked<std::vector<Override>> parse_changes(std::span<const std::string> changes)
{
    std::vector<Override> out;
    Problems problems;
    for (const std::string& change : changes) {
        Checked<Override> parsed = parse_override(change);
        if (parsed)
            out.push_back(std::move(*parsed));
        else
            append(problems, parsed.error());
    }
    if (!problems.empty())
        return tl::unexpected(std::move(problems));
    return out;
}

Checked<ScenarioFile> load_scenario(const std::string& path, std::span<const std::string> changes)
{
    const Checked<std::vector<Override>> overrides = parse_changes(changes);
    if (!overrides)
        return tl::unexpected(overrides.error());
    return read_scenario_file(path, *overrides);
}

Checked<ScenarioFile> scenario_of_text(const std::string& text, const std::string& path,
                                       std::span<const Override> changes)
{
    Checked<Json> json = parse_json(text, path, input_limits);
    if (!json)
        return tl::unexpected(json.error());
    return scenario_from(std::move(*json), path, changes);
}

std::filesystem::path folder_of(const std::string& output)
{
    return output.empty() ? std::filesystem::path() : std::filesystem::path(output).parent_path();
}

namespace {

// A file that a scenario in `from` names, as one in `to` does.
std::string moved_path(const std::string& path, const std::filesystem::path& from,
                       const std::filesystem::path& to)
{
    const std::filesystem::path file = from / path;
    return !path.empty() && std::filesystem::exists(file)
               ? std::filesystem::relative(file, std::filesystem::absolute(to.empty() ? "." : to))
                     .string()
               : path;
}

void move_source(Source& source, const std::filesystem::path& from, const std::filesystem::path& to)
{
    source.path = moved_path(source.path, from, to);
    Json* const config = source.value.find("hf_config");
    if (config != nullptr && config->is_string())
        *config = moved_path(config->as_string(), from, to);
}

} // namespace

std::string scenario_text(Scenario scenario, const std::filesystem::path& folder,
                          const std::string& output)
{
    const std::filesystem::path to = folder_of(output);
    move_source(scenario.model, folder, to);
    move_source(scenario.topology, folder, to);
    scenario.profile = moved_path(scenario.profile, folder, to);
    return to_text(to_json(scenario)) + "\n";
}

Problems scenario_problems(const ScenarioFile& file)
{
    return Session().check(file);
}

} // namespace trainyard
