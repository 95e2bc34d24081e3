#include "sim/strategy/bind/link_shares.h"

#include "sim/topology/topology_model.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>
#include <vector>

namespace trainyard {

namespace {

// Channels of a transfer, each with a path of its own, enough to meet every NIC: for each NIC of a
// device that has several, and of a device that lost its own.
constexpr int channels_per_nic = 8;
constexpr int channels_around = 64;

} // namespace

LinkShares::LinkShares(const Topology& topology, std::uint64_t flow)
    : topology_(topology), flow_(flow), nics_(topology.model().nics_in_reach(NodeId{0}))
{}

void LinkShares::add(RankId from, RankId to, double share)
{
    if (from == to || share <= 0)
        return;
    const DeviceId a{from.value};
    const DeviceId b{to.value};
    const TopologyModel& model = topology_.model();
    if (model.placement(a).node != model.placement(b).node) {
        if (model.rerouted(a, b))
            return add_by_channels(a, b, share, channels_around);
        if (nics_ > 1)
            return add_by_channels(a, b, share, channels_per_nic * nics_);
    }
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

// The library spreads channels evenly over the NICs at both ends; switches between them choose by
// hash, each for the channels of a NIC, which share what it sends.
void LinkShares::add_by_channels(DeviceId from, DeviceId to, double share, int channels)
{
    std::map<LinkId, std::vector<std::vector<LinkId>>> ways; // of the channels, by the first NIC
    std::set<LinkId> in;
    const auto is_nic = [this](LinkId link) { return topology_.link(link).kind == LinkKind::nic; };
    const auto count = static_cast<std::uint64_t>(channels);
    for (std::uint64_t channel = 0; channel < count; ++channel) {
        std::vector<LinkId> way = topology_.path(from, to, flow_ * count + channel);
        const auto out = std::ranges::find_if(way, is_nic);
        const auto last = std::find_if(way.rbegin(), way.rend(), is_nic);
        const LinkId first = out == way.end() ? LinkId{} : *out;
        if (out != way.end() && std::prev(last.base()) != out) {
            in.insert(*last);
            way.erase(std::prev(last.base()));
        }
        ways[first].push_back(std::move(way));
    }
    for (const auto& [nic, of_nic] : ways)
        for (const std::vector<LinkId>& way : of_nic)
            for (const LinkId link : way)
                shares_[link] += share / static_cast<double>(ways.size() * of_nic.size());
    for (const LinkId nic : in)
        shares_[nic] += share / static_cast<double>(in.size());
}

} // namespace trainyard
