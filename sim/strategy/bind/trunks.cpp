#include "sim/strategy/bind/trunks.h"

#include "sim/topology/perturbed_model.h"

#include <algorithm>
#include <map>
#include <set>

namespace trainyard {

namespace {

bool flows_collide(const Topology& topology)
{
    const auto* const perturbed = dynamic_cast<const PerturbedModel*>(&topology.model());
    return perturbed != nullptr && perturbed->has_collisions();
}

} // namespace

Trunks::Trunks(const Topology& topology)
{
    const bool alone = flows_collide(topology);
    std::unordered_map<std::uint32_t, std::vector<LinkId>> by_number;
    for (std::size_t i = 0; i < topology.link_count(); ++i) {
        const auto link = make_id<LinkId>(i);
        carrier_.push_back(link);
        if (const std::optional<Trunk> trunk = topology.model().trunk(link); trunk && !alone) {
            std::vector<LinkId>& links = by_number[trunk->number];
            links.push_back(link);
            carrier_.back() = links.front();
        }
    }
    for (auto& [number, links] : by_number)
        if (const LinkId carrier = links.front(); links.size() > 1)
            links_.emplace(carrier, std::move(links));
}

std::span<const LinkId> Trunks::links(LinkId carrier) const
{
    const auto several = links_.find(carrier);
    return several == links_.end() ? std::span(&carrier_[carrier.value], 1)
                                   : std::span<const LinkId>(several->second);
}

std::vector<LinkUse> Trunks::carried(std::span<const LinkUse> uses) const
{
    std::map<LinkId, std::uint32_t> sums;
    for (const LinkUse& use : uses)
        sums[carrier(use.link)] += use.coefficient;
    std::vector<LinkUse> out;
    for (const auto& [link, coefficient] : sums)
        out.push_back({link, coefficient});
    return out;
}

Ways Trunks::carried(const Ways& ways) const
{
    Ways out;
    for (std::size_t way = 0; way < ways.size(); ++way)
        out.add(carried(ways[way]));
    return out;
}

std::vector<LinkWindow> trunk_windows(LinkId carrier, ByteRate usual,
                                      std::span<const TrunkLoss> losses)
{
    std::set<SimTime> times;
    for (const TrunkLoss& loss : losses) {
        times.insert(loss.from);
        times.insert(loss.until);
    }
    std::vector<LinkWindow> windows;
    for (auto at = times.begin(); at != times.end() && std::next(at) != times.end(); ++at) {
        Bandwidth lost;
        for (const TrunkLoss& loss : losses)
            if (loss.from <= *at && *at < loss.until)
                lost += loss.lost;
        const double left = std::max(0.0, static_cast<double>(usual.value()) - lost.value());
        if (lost.value() > 0)
            windows.push_back(
                {carrier, *at, *std::next(at), ByteRate(static_cast<std::uint64_t>(left))});
    }
    return windows;
}

} // namespace trainyard
