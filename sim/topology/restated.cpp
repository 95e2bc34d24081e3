#include "sim/topology/restated.h"

#include "sim/topology/cluster_model.h"
#include "sim/topology/read_topology.h"

#include <optional>
#include <string>
#include <vector>

namespace trainyard {
namespace {

// What a cluster is, whatever words say it. Nothing: it cannot be read.
std::optional<ClusterDescription> meaning_of(Json cluster, const Presets& presets)
{
    if (cluster.is_object() && cluster.find("fabric") == nullptr)
        cluster["fabric"]["kind"] = "rail";
    const Checked<TopologyFile> read = inspect_topology(cluster, "", presets);
    if (!read)
        return std::nullopt;
    const auto* model = dynamic_cast<const ClusterModel*>(&read->topology.model());
    if (model == nullptr)
        return std::nullopt;
    ClusterDescription out = model->description();
    out.node.source.clear();
    out.node.usual_network.clear(); // stands in the fabric
    out.node.pcie_switches = pcie_switch_count(out.node);
    if (!out.node.nic_rate && out.fabric)
        out.node.nic_rate = out.fabric->network.port_rate;
    return out;
}

using Place = std::vector<std::string>; // keys from the cluster down

void erase(Json& cluster, const Place& place)
{
    Json* object = &cluster;
    for (auto key = place.begin(); key != place.end() - 1; ++key)
        object = object->find(*key);
    std::erase_if(object->members(),
                  [&](const Json::Member& member) { return member.first == place.back(); });
}

// A preset made for the node's device under which the cluster stays what it is.
void name_own_preset(Json& cluster, const ClusterDescription& meaning, const Presets& presets)
{
    const Json* current = presets.nodes.find(cluster.find("node")->find("preset")->as_string());
    const auto made_for_it = [&](const Json& preset) {
        const Json* device = preset.find("device");
        return device != nullptr && *device == Json(meaning.node.device);
    };
    if (current == nullptr || made_for_it(*current))
        return;
    for (const auto& [name, preset] : presets.nodes.members()) {
        Json changed = cluster;
        (*changed.find("node"))["preset"] = name;
        if (made_for_it(preset) && meaning_of(changed, presets) == meaning) {
            cluster = std::move(changed);
            return;
        }
    }
}

// What is within an object goes one by one.
std::vector<Place> fields_that_may_go(const Json& cluster)
{
    std::vector<Place> out;
    for (const Json::Member& member : cluster.find("node")->members()) {
        if (member.first == "preset")
            continue;
        if (member.second.is_object())
            for (const Json::Member& inner : member.second.members())
                out.push_back({"node", member.first, inner.first});
        out.push_back({"node", member.first});
    }
    if (const Json* fabric = cluster.find("fabric"); fabric != nullptr && fabric->is_object())
        out.push_back({"fabric", "network"});
    return out;
}

} // namespace

Json without_restated(Json cluster, const Presets& presets)
{
    const Json* node = cluster.is_object() ? cluster.find("node") : nullptr;
    const Json* preset = node != nullptr && node->is_object() ? node->find("preset") : nullptr;
    const std::optional<ClusterDescription> meaning = meaning_of(cluster, presets);
    if (preset == nullptr || !preset->is_string() || !meaning)
        return cluster;
    name_own_preset(cluster, *meaning, presets);
    for (const Place& place : fields_that_may_go(cluster)) {
        Json shorter = cluster;
        erase(shorter, place);
        if (meaning_of(shorter, presets) == meaning)
            cluster = std::move(shorter);
    }
    return cluster;
}

} // namespace trainyard
