#include "sim/topology/usual_cluster.h"

#include "sim/base/fields.h"

#include <fmt/core.h>

namespace trainyard {
namespace {

template <class T>
T read_preset(const Json& preset, Problems& problems)
{
    T value;
    fields_of<T>().read(Reader(preset, "topologies/presets", problems), value);
    return value;
}

// The preset of that device whose node has `gpus` GPUs, else the first; null when there is none.
const Json* find_node(const UsualCluster& facts, const Presets& presets)
{
    const Json* first = nullptr;
    for (const Json::Member& preset : presets.nodes.members()) {
        const Json* device = preset.second.find("device");
        if (device == nullptr || !(*device == Json(facts.device)))
            continue;
        const Json* gpus = preset.second.find("gpus");
        if (gpus != nullptr && *gpus == Json(facts.gpus_per_node))
            return &preset.second;
        first = first == nullptr ? &preset.second : first;
    }
    return first;
}

std::vector<std::string> known_devices(const Presets& presets)
{
    std::vector<std::string> names;
    for (const Json::Member& preset : presets.nodes.members())
        if (const Json* device = preset.second.find("device"); device && device->is_string())
            names.push_back(device->as_string());
    return names;
}

Problems problem(std::string field, std::string message, std::string hint)
{
    return {Diagnostic{"", 0, "/" + std::move(field), std::move(message), std::move(hint)}};
}

// `node` with another number of GPUs, its NICs in proportion.
void resize(NodeTemplate& node, int gpus)
{
    if (node.nics >= node.gpus)
        node.nics = node.nics / node.gpus * gpus;
    if (node.nvlink.wiring == NvlinkWiring::cube_mesh)
        node.nvlink.wiring = NvlinkWiring::all_to_all;
    if (node.nvlink.domain == 0 || node.nvlink.domain % gpus != 0)
        node.nvlink.domain = 0;
    node.gpus = gpus;
    node.pcie_switches = 0;
}

} // namespace

Checked<ClusterDescription> usual_cluster(const UsualCluster& facts, const Presets& presets)
{
    const Json* preset = find_node(facts, presets);
    if (preset == nullptr)
        return tl::unexpected(problem("device",
                                      fmt::format("no node preset has device \"{}\"", facts.device),
                                      suggestion(facts.device, known_devices(presets))));
    Problems problems;
    ClusterDescription out;
    out.node = read_preset<NodeTemplate>(*preset, problems);
    out.nodes = facts.nodes;
    if (facts.gpus_per_node > 0 && facts.gpus_per_node != out.node.gpus)
        resize(out.node, facts.gpus_per_node);
    if (facts.nvlink_domain == 1)
        out.node.nvlink = {};
    else if (facts.nvlink_domain > 0)
        out.node.nvlink.domain = facts.nvlink_domain == out.node.gpus ? 0 : facts.nvlink_domain;
    if (facts.nic_rate_per_gpu) {
        out.node.nics = facts.nic_rate_per_gpu->value() > 0 ? out.node.gpus : 0;
        out.node.nic_rate = facts.nic_rate_per_gpu;
        out.node.pcie_switches = 0;
    }
    const std::string network = facts.network.empty() ? out.node.usual_network : facts.network;
    const Json* spoken = presets.networks.find(network);
    if (spoken == nullptr) {
        std::vector<std::string> names;
        for (const Json::Member& member : presets.networks.members())
            names.push_back(member.first);
        return tl::unexpected(
            problem("network", fmt::format("\"{}\" is not among the network presets", network),
                    suggestion(network, names)));
    }
    if (out.node.nics > 0) {
        FabricTemplate fabric;
        fabric.network = read_preset<NetworkTemplate>(*spoken, problems);
        fabric.kind = out.node.nics == out.node.gpus ? FabricKind::rail : FabricKind::leaf_spine;
        out.fabric = fabric;
    }
    for (const ClusterFlaw& flaw : flaws(out))
        if (flaw.severity == Severity::error)
            problems.push_back({"", 0, flaw.pointer, flaw.message, flaw.hint});
    if (has_errors(problems))
        return tl::unexpected(std::move(problems));
    return out;
}

} // namespace trainyard
