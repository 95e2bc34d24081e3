#include "sim/base/words.h"
#include "sim/study/jobs/job_context.h"
#include "sim/study/record_machine.h"
#include "sim/topology/read_topology.h"
#include "sim/topology/restated.h"

#include <fmt/format.h>

namespace trainyard {
namespace fs = std::filesystem;

namespace {

// Gives the switches of a fabric that cannot hold its nodes twice the ports, as splitting ports
// does, or more. Says so; nothing where the usual ones do, or none would.
std::string widen_switches(Json& topology, const Presets& presets)
{
    const Json* const fabric = topology.find("fabric");
    if (fabric == nullptr || read_topology(topology, ""))
        return {};
    const Json network = *fabric->find("network");
    const Json* const preset = presets.networks.find(network.as_string());
    const Json* const ports = preset != nullptr ? preset->find("switch_ports") : nullptr;
    if (ports == nullptr)
        return {};
    for (const int factor : {2, 4, 8, 16}) {
        Json wider = topology;
        Json& spoken = wider["fabric"]["network"];
        spoken = Json::object();
        spoken["preset"] = network;
        spoken["switch_ports"] = factor * ports->as_integer();
        if (!read_topology(wider, ""))
            continue;
        topology = std::move(wider);
        return fmt::format("fabric.network.switch_ports {}: three layers of {} with {} ports hold "
                           "fewer nodes",
                           factor * ports->as_integer(), network.as_string(), ports->as_integer());
    }
    return {};
}

// Takes as many nodes as the job needs, where nothing says how many there are.
void fit_nodes(JobDraft& draft, const ClusterChoice& cluster, int usual,
               const std::vector<Override>& changes, std::optional<int>& nodes,
               std::optional<int>& per_node)
{
    const auto fitting =
        fitting_nodes(draft, per_node.value_or(usual), per_node.has_value(), changes);
    nodes = fitting && (!per_node || fitting->gpus_per_node == *per_node) ? fitting->nodes : 1;
    if (!fitting || fitting->why.empty()) {
        draft.assume(nodes == 1 ? "1 node: neither the files nor --nodes say how many"
                                : fmt::format("{} nodes", *nodes));
        return;
    }
    if (!per_node && fitting->gpus_per_node != usual) {
        per_node = fitting->gpus_per_node;
        draft.assume(
            fmt::format("{} of the {} GPUs usual for a node of {}", *per_node, usual, cluster.gpu));
    }
    draft.assume(fmt::format("{} node{}, which the files do not state: {} (--nodes says another)",
                             *nodes, *nodes == 1 ? "" : "s", fitting->why));
}

// A script may start fewer GPUs than its own degrees need, as a template does: those are flagged
// and given.
void outgrow_launch(JobDraft& draft, int usual, const std::vector<Override>& changes,
                    std::optional<int>& nodes, const std::optional<int>& per_node)
{
    const int each = per_node.value_or(usual);
    const auto ranks = model_ranks(draft.scenario.strategy, changes);
    const std::int64_t launched = std::int64_t{*nodes} * each;
    if (!ranks || launched >= std::max(ranks->replica, ranks->experts))
        return;
    const auto fitting = fitting_nodes(draft, each, true, changes);
    if (!fitting || fitting->gpus_per_node != each || fitting->why.empty())
        return;
    draft.flag(fmt::format("the launch starts {} GPUs, fewer than {}: {} nodes of {} "
                           "instead, {} (--nodes says another)",
                           launched,
                           launched < ranks->replica ? "a replica needs" : "its experts need",
                           fitting->nodes, each, fitting->why));
    nodes = fitting->nodes;
    draft.size.nodes = fitting->nodes;
    draft.size.gpus_per_node = each;
}

} // namespace

Source source_from(const std::string& path, const fs::path& folder)
{
    std::error_code ignored;
    if (!fs::exists(path, ignored))
        return {path, {}};
    const fs::path from = folder.empty() ? fs::path(".") : folder;
    const fs::path relative = fs::relative(path, from, ignored);
    return {relative.empty() ? path : relative.string(), {}};
}

tl::expected<UsualMachine, std::string> usual_machine(const std::string& gpu, int nodes,
                                                      int gpus_per_node)
{
    MeasuredRecord facts;
    facts.hardware.gpu = lower_case(gpu);
    facts.hardware.gpus_per_node = gpus_per_node;
    facts.gpus = nodes * gpus_per_node;
    const auto machine = machine_of(facts);
    if (!machine)
        return tl::unexpected(machine.error());
    const Checked<Presets> presets = load_presets();
    UsualMachine out{machine->topology, machine->assumptions, {}};
    if (presets) {
        out.widened = widen_switches(out.topology, *presets);
        out.topology = without_restated(std::move(out.topology), *presets);
    }
    if (!out.widened.empty())
        out.assumptions.push_back(out.widened);
    // Names the record's preset, and would outlive a change of it.
    std::erase_if(out.topology.members(),
                  [](const Json::Member& member) { return member.first == "name"; });
    return out;
}

int usual_gpus_per_node(const std::string& gpu)
{
    const KnownDevice* const known = shipped_devices().named_in(gpu);
    return known != nullptr ? known->device.usual_node.gpus : 0;
}

std::string known_gpus()
{
    std::vector<std::string> names;
    for (const KnownDevice& one : shipped_devices().all())
        if (!one.device.usual_node.preset.empty())
            names.push_back(one.device.name);
    return fmt::format("known: {}", fmt::join(names, ", "));
}

void choose_cluster(JobDraft& draft, const ClusterChoice& cluster,
                    const std::vector<Override>& changes)
{
    if (cluster.topology.given()) {
        draft.scenario.topology = cluster.topology;
        return;
    }
    constexpr std::string_view how =
        "say on which machines: --topology FILE, or --gpu h100 --nodes 4 --gpus-per-node 8";
    if (cluster.gpu.empty()) {
        draft.refuse({}, "the files of a job do not say which GPUs it runs on", std::string(how));
        return;
    }
    const int usual = usual_gpus_per_node(cluster.gpu);
    if (usual == 0) {
        draft.refuse({0, "--gpu " + cluster.gpu}, "not among the known devices", known_gpus());
        return;
    }
    std::optional<int> per_node =
        cluster.gpus_per_node ? cluster.gpus_per_node : draft.size.gpus_per_node;
    std::optional<int> nodes = cluster.nodes ? cluster.nodes : draft.size.nodes;
    if (nodes && !cluster.nodes && !cluster.gpus_per_node)
        outgrow_launch(draft, usual, changes, nodes, per_node);
    if (!nodes)
        fit_nodes(draft, cluster, usual, changes, nodes, per_node);
    if (!per_node) {
        per_node = usual;
        draft.assume(fmt::format("{} GPUs a node, as usual for {}", usual, cluster.gpu));
    }
    constexpr int most = 1'000'000;
    if (*nodes < 1 || *per_node < 1 || *nodes > most / *per_node) {
        draft.refuse({}, fmt::format("{} nodes of {} GPUs", *nodes, *per_node),
                     fmt::format("1 to {} GPUs in all", most));
        return;
    }
    const auto machine = usual_machine(cluster.gpu, *nodes, *per_node);
    if (!machine) {
        draft.refuse({0, "--gpu " + cluster.gpu}, machine.error(), std::string(how));
        return;
    }
    draft.scenario.topology = {{}, machine->topology};
    for (const std::string& assumption : machine->assumptions)
        draft.assume(assumption);
}

} // namespace trainyard
