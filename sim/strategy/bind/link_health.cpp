#include "sim/strategy/bind/link_health.h"

#include "sim/strategy/bind/link_shares.h"
#include "sim/topology/perturbed_model.h"

#include <algorithm>
#include <unordered_map>

namespace trainyard {

namespace {

// A link, or a trunk whose links are taken as one.
using Carrier = std::uint64_t;
constexpr Carrier trunk_bit = Carrier{1} << 32;

struct Load {
    double bytes = 0;
    double capacity = 0; // bytes per second
};

// A way over its carriers, hops inside a domain and across apart.
struct Way {
    std::unordered_map<Carrier, double> inside;
    std::unordered_map<Carrier, double> across;
    double inside_latency = 0; // sums over hops
    double across_latency = 0;
    int inside_hops = 0;
    int across_hops = 0;
};

// Ways over one cluster, and what they put on its links.
class Traffic {
public:
    Traffic(std::span<const std::vector<RingHop>> ways, const Topology& topology, bool spread)
        : topology_(topology), spread_(spread)
    {
        for (std::size_t w = 0; w < ways.size(); ++w) {
            Way& way = ways_.emplace_back();
            for (const RingHop& hop : ways[w])
                add(way, hop, w);
        }
        for (const Way& way : ways_)
            for (const auto* part : {&way.inside, &way.across})
                for (const auto& [carrier, bytes] : *part)
                    loads_.at(carrier).bytes += bytes;
    }

    const Way& way(std::size_t w) const { return ways_[w]; }

    // Per byte; infinite over a dead link.
    double time(const std::unordered_map<Carrier, double>& part, Together together) const
    {
        double longest = 0;
        for (const auto& [carrier, bytes] : part) {
            const Load& load = loads_.at(carrier);
            longest = std::max(longest, (together == Together::siblings ? load.bytes : bytes) /
                                            load.capacity);
        }
        return longest;
    }

private:
    void add(Way& way, const RingHop& hop, std::size_t flow)
    {
        LinkShares shares(topology_, flow);
        shares.add(hop.from, hop.to, hop.share);
        auto& part = hop.across ? way.across : way.inside;
        double latency = 0;
        for (const auto& [link, share] : shares.by_link()) {
            const Carrier carrier = carrier_of(link);
            part[carrier] += share;
            // A link that carries part of the bytes delays that part.
            latency += topology_.link(link).latency.value() * std::min(1.0, share / hop.share);
        }
        (hop.across ? way.across_latency : way.inside_latency) += latency;
        ++(hop.across ? way.across_hops : way.inside_hops);
    }

    Carrier carrier_of(LinkId link)
    {
        const std::optional<Trunk> trunk = spread_ ? topology_.model().trunk(link) : std::nullopt;
        const Carrier carrier = trunk ? trunk_bit + trunk->number : link.value;
        const double capacity =
            trunk ? trunk->capacity.value() : topology_.link(link).capacity.value();
        loads_.try_emplace(carrier, Load{0, capacity});
        return carrier;
    }

    const Topology& topology_;
    bool spread_;
    std::vector<Way> ways_;
    std::unordered_map<Carrier, Load> loads_;
};

double ratio(double sound, double perturbed)
{
    return perturbed > sound ? sound / perturbed : 1.0;
}

Seconds more(double perturbed, double sound, int hops)
{
    return Seconds(hops > 0 ? std::max(0.0, perturbed - sound) / hops : 0.0);
}

bool is_sound(const Topology& topology)
{
    return &topology.model().sound() == &topology.model();
}

} // namespace

std::vector<LinkHealth> health_of(std::span<const std::vector<RingHop>> ways,
                                  const Topology& topology, Together together)
{
    std::vector<LinkHealth> out(ways.size());
    const auto* const perturbed = dynamic_cast<const PerturbedModel*>(&topology.model());
    if (perturbed == nullptr)
        return out;
    const Traffic before(ways, in_good_state(topology), true);
    const Traffic now(ways, topology, !perturbed->has_collisions());
    for (std::size_t w = 0; w < ways.size(); ++w) {
        const Way& a = before.way(w);
        const Way& b = now.way(w);
        out[w] = {.inside = ratio(before.time(a.inside, together), now.time(b.inside, together)),
                  .across = ratio(before.time(a.across, together), now.time(b.across, together)),
                  .inside_latency = more(b.inside_latency, a.inside_latency, b.inside_hops),
                  .across_latency = more(b.across_latency, a.across_latency, b.across_hops)};
    }
    return out;
}

std::vector<LinkHealth> ring_health(std::span<const std::vector<RankId>> groups,
                                    const Topology& topology, Together together)
{
    if (is_sound(topology))
        return std::vector<LinkHealth>(groups.size());
    std::vector<std::vector<RingHop>> ways;
    for (const std::vector<RankId>& group : groups)
        ways.push_back(ring_hops(group, topology));
    return health_of(ways, topology, together);
}

std::vector<LinkHealth> pair_health(std::span<const std::array<RankId, 2>> pairs,
                                    const Topology& topology, Together together)
{
    if (is_sound(topology))
        return std::vector<LinkHealth>(pairs.size());
    const auto domain_of = [&](RankId rank) {
        return topology.model().placement(DeviceId{rank.value}).domain;
    };
    std::vector<std::vector<RingHop>> ways;
    for (const auto& [a, b] : pairs) {
        const bool across = domain_of(a) != domain_of(b);
        ways.push_back({{a, b, 1.0, across}, {b, a, 1.0, across}});
    }
    return health_of(ways, topology, together);
}

} // namespace trainyard
