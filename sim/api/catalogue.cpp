#include "sim/api/catalogue.h"

#include "sim/cost/profile_library.h"
#include "sim/report/model/model_text.h"
#include "sim/study/inputs.h"
#include "sim/study/jobs/job_import.h"
#include "sim/topology/read_topology.h"
#include "sim/topology/summary.h"

#include <filesystem>

namespace trainyard {
namespace {

// A shipped one by name, or a file where paths start in the current folder.
Checked<Input> named_input(const std::string& name, InputKind kind)
{
    if (name.empty())
        return rejected("", "nothing is named", "a file, or the name of a shipped one");
    ScenarioFile beside;
    beside.base = std::filesystem::current_path();
    return find_input(source_from(name, beside.base), kind, beside);
}

} // namespace

std::vector<std::string> shipped_names(ShippedKind kind)
{
    switch (kind) {
    case ShippedKind::models:
        return shipped_inputs(InputKind::model);
    case ShippedKind::topologies:
        return shipped_inputs(InputKind::topology);
    case ShippedKind::profiles:
        return known_profiles();
    case ShippedKind::devices:
        return known_devices();
    case ShippedKind::software:
        break;
    }
    return known_software();
}

Checked<Json> model_facts(const std::string& model, std::int64_t sequence_length)
{
    return named_input(model, InputKind::model)
        .and_then([](const Input& input) { return import_model(input.json, input.file); })
        .map([&](const ImportedModel& read) {
            return to_json(summarize(read.model, sequence_length), read);
        });
}

Checked<TopologyFacts> topology_facts(const std::string& topology)
{
    return named_input(topology, InputKind::topology)
        .and_then([](const Input& input) { return read_topology(input.json, input.file); })
        .map([](const Topology& read) {
            const TopologySummary summary = summarize(read);
            return TopologyFacts{to_json(summary), describe(summary)};
        });
}

Checked<Json> profile_constants(const std::string& profile)
{
    return load_profile(profile).map([](const ProfileFile& file) { return to_json(file.profile); });
}

} // namespace trainyard
