#include "sim/strategy/bind/link_shares.h"

#include "sim/topology/topology_model.h"

#include <set>
#include <utility>

namespace trainyard {

namespace {

// Channels of a transfer where a device has several NICs, or lost its own: each takes a path of its
// own.
constexpr std::uint64_t channels = 64; // enough to meet every NIC

} // namespace

LinkShares::LinkShares(const Topology& topology, std::uint64_t flow)
    : topology_(topology),
      flow_(flow),
      many_nics_(topology.network(NodeId{0}).nics > topology.model().gpus_in_node(NodeId{0}))
{}

void LinkShares::add(RankId from, RankId to, double share)
{
    if (from == to || share <= 0)
        return;
    const DeviceId a{from.value};
    const DeviceId b{to.value};
    const TopologyModel& model = topology_.model();
    if (model.placement(a).node != model.placement(b).node && (many_nics_ || model.rerouted(a, b)))
        return add_by_channels(a, b, share);
    for (const LinkId link : topology_.path(a, b, flow_))
        shares_[link] += share;
}

void LinkShares::add_over_wires(RankId from, std::span<const RankId> domain, double share)
{
    std::map<LinkId, double> wires;
    double sum = 0;
    for (const RankId to : domain) {
        const std::vector<LinkId> path =
            topology_.path(DeviceId{from.value}, DeviceId{to.value}, flow_);
        if (path.size() == 1)
            sum += wires[path.front()] = topology_.link(path.front()).capacity.value();
    }
    for (const auto& [wire, capacity] : wires)
        shares_[wire] += share * capacity / sum;
}

// The library spreads channels evenly over the NICs at both ends; switches choose by hash.
void LinkShares::add_by_channels(DeviceId from, DeviceId to, double share)
{
    std::set<LinkId> out;
    std::set<LinkId> in;
    for (std::uint64_t channel = 0; channel < channels; ++channel) {
        bool left = false;
        for (const LinkId link : topology_.path(from, to, flow_ * channels + channel))
            if (topology_.link(link).kind == LinkKind::nic)
                (std::exchange(left, true) ? in : out).insert(link);
            else
                shares_[link] += share / static_cast<double>(channels);
    }
    for (const std::set<LinkId>& set : {out, in})
        for (const LinkId nic : set)
            shares_[nic] += share / static_cast<double>(set.size());
}

} // namespace trainyard
