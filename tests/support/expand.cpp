#include "tests/support/expand.h"

#include "sim/topology/cluster_model.h"
#include "sim/topology/explicit_model.h"

#include <fmt/core.h>

#include <unordered_set>

namespace trainyard {
namespace {

// "node3" of "node3/pcie0"; empty for leaves, spines, cores and NVSwitches of a domain.
std::string node_of(const std::string& piece)
{
    return piece.starts_with("node") ? piece.substr(0, piece.find('/')) : "";
}

SwitchKind kind_of(const std::string& piece)
{
    if (piece.starts_with("node"))
        return SwitchKind::pcie;
    return piece.starts_with("domain") ? SwitchKind::nvswitch : SwitchKind::network;
}

} // namespace

ExplicitDescription expand(const Topology& topology)
{
    if (const auto* given = dynamic_cast<const ExplicitModel*>(&topology.model()))
        return given->description();
    const auto& model = dynamic_cast<const ClusterModel&>(topology.model());
    ExplicitDescription out;
    out.name = model.name();
    out.description = model.description().description;
    out.source = model.description().source;
    out.ecmp_seed = model.ecmp_seed();
    if (model.description().fabric)
        out.network = model.description().fabric->network;
    std::unordered_set<std::string> known;
    for (std::size_t i = 0; i < static_cast<std::size_t>(model.device_count()); ++i) {
        const DeviceId id = make_id<DeviceId>(i);
        const std::string name = model.device_name(id);
        known.insert(name);
        out.devices.push_back({name, node_of(name), model.device(id).model});
    }
    for (std::size_t i = 0; i < model.link_count(); ++i) {
        const LinkId id = make_id<LinkId>(i);
        const LinkEnds ends = model.link_ends(id);
        const Link link = model.link(id);
        for (const std::string& end : {ends.from, ends.to})
            if (known.insert(end).second)
                out.switches.push_back({end, kind_of(end), node_of(end),
                                        kind_of(end) == SwitchKind::nvswitch &&
                                            model.description().node.nvlink.reduction});
        out.links.push_back({ends.from, ends.to, link.capacity, link.latency, link.kind, true,
                             model.link_name(id)});
    }
    return out;
}

} // namespace trainyard
