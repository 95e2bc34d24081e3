#include "sim/strategy/bind/fabric_share.h"

#include "sim/strategy/bind/link_shares.h"
#include "sim/strategy/bind/rank_groups.h"
#include "sim/strategy/bind/ring.h"
#include "sim/topology/group_shape.h"
#include "sim/topology/topology_model.h"

#include <algorithm>
#include <cmath>
#include <unordered_map>

namespace trainyard {

namespace {

// Loads are counted in whole parts of this, so that equal sums are equal whatever their order.
constexpr double whole = 1U << 20;

std::vector<Trunk> trunks_between(RankId from, RankId to, const Topology& topology)
{
    std::vector<Trunk> trunks;
    for (const LinkId link : topology.path(DeviceId{from.value}, DeviceId{to.value}, 0))
        if (const std::optional<Trunk> trunk = topology.model().trunk(link))
            trunks.push_back(*trunk);
    return trunks;
}

// The trunks under all groups of a slot, and what the rings put on them.
class TrunkLoads {
public:
    TrunkLoads(std::span<const std::vector<RankId>> groups, const Topology& topology)
        : layers_(topology.model().fabric_layers()), climbed_(groups.size())
    {
        for (std::size_t g = 0; g < groups.size(); ++g) {
            LinkShares ring(topology, g);
            for (const RingHop& hop : ring_hops(groups[g], topology))
                if (hop.across)
                    ring.add(hop.from, hop.to, hop.share);
            for (const auto& [link, share] : ring.by_link())
                if (const std::optional<Trunk> trunk = topology.model().trunk(link)) {
                    load_[trunk->number] += static_cast<std::uint64_t>(std::lround(share * whole));
                    climbed_[g].push_back(*trunk);
                }
        }
    }

    // What a domain's rings together get of the scarcest trunk; 0: they climb none.
    Bandwidth ring_rate(std::size_t group) const
    {
        Bandwidth least;
        for (const Trunk& trunk : climbed_[group]) {
            const Bandwidth rate =
                trunk.capacity * (whole / static_cast<double>(load_.at(trunk.number)));
            least = least.value() > 0 ? std::min(least, rate) : rate;
        }
        return least;
    }
    double oversubscription(std::size_t group) const { return worst(climbed_[group], layers_); }

    static double worst(const std::vector<Trunk>& trunks, const std::vector<FabricLayer>& layers)
    {
        double most = 1.0;
        for (const Trunk& trunk : trunks)
            most = std::max(most, layers[trunk.layer].oversubscription);
        return most;
    }

private:
    std::vector<FabricLayer> layers_;
    std::unordered_map<std::uint32_t, std::uint64_t> load_; // parts of what leaves a domain
    std::vector<std::vector<Trunk>> climbed_;               // by group
};

} // namespace

std::vector<FabricPart> fabric_parts(std::span<const std::vector<RankId>> groups,
                                     const Topology& topology)
{
    const TrunkLoads loads(groups, topology);
    std::vector<FabricPart> parts;
    for (std::size_t g = 0; g < groups.size(); ++g) {
        FabricPart& part = parts.emplace_back();
        part.oversubscription = loads.oversubscription(g);
        const Bandwidth rate = loads.ring_rate(g);
        if (!(rate.value() > 0))
            continue;
        const GroupShape shape = group_shape(topology, devices_of(groups[g]));
        const Bandwidth share = rate / static_cast<double>(shape.ranks_per_domain);
        if (share < shape.nic_rate_per_gpu())
            part.ring_share = share;
    }
    return parts;
}

double oversubscription_between(RankId from, RankId to, const Topology& topology)
{
    return TrunkLoads::worst(trunks_between(from, to, topology), topology.model().fabric_layers());
}

} // namespace trainyard
