#include "sim/strategy/bind/ring.h"

#include "sim/topology/topology_model.h"

#include <map>

namespace trainyard {

namespace {

// Members of each NVLink domain, in group order.
std::vector<std::vector<RankId>> by_domain(std::span<const RankId> members,
                                           const Topology& topology)
{
    std::map<DomainId, std::vector<RankId>> domains;
    for (const RankId member : members)
        domains[topology.model().placement(DeviceId{member.value}).domain].push_back(member);
    std::vector<std::vector<RankId>> out;
    for (auto& [domain, inside] : domains)
        out.push_back(std::move(inside));
    return out;
}

} // namespace

std::vector<RingHop> ring_hops(std::span<const RankId> members, const Topology& topology)
{
    const std::vector<std::vector<RankId>> domains = by_domain(members, topology);
    const bool many = domains.size() > 1;
    std::vector<RingHop> hops;
    for (std::size_t d = 0; d < domains.size(); ++d) {
        const std::vector<RankId>& here = domains[d];
        const std::vector<RankId>& there = domains[(d + 1) % domains.size()];
        const auto r = static_cast<double>(here.size());
        for (std::size_t i = 0; i < here.size(); ++i) {
            if (here.size() > 1)
                hops.push_back({here[i], here[(i + 1) % here.size()], many ? (r - 1) / r : 1.0});
            if (many)
                hops.push_back({here[i], there[i % there.size()], 1 / r, true});
        }
    }
    return hops;
}

} // namespace trainyard
