#pragma once

#include "sim/cost/algorithms/algorithm.h"

namespace trainyard::algorithms {

// Buffers that leave a domain, up and down; between two domains a sum crosses once.
inline double out_of_domain(const CollectiveTerms& t)
{
    return t.domains == 2 ? 1 : 2 / t.form.tree_beyond_two;
}

inline TimeLine tree_all_reduce(const CollectiveTerms& t, const ProtocolTerms& p)
{
    return {Seconds(p.base + t.passes * p.hop * domain_hops(t.r) +
                    t.latency * p.tree_latency * t.log_domains),
            t.two_levels(t.volume, p.efficiency, out_of_domain(t), p.crossing_efficiency)};
}

// One way only.
inline TimeLine tree_broadcast(const CollectiveTerms& t, const ProtocolTerms& p)
{
    return {
        Seconds(p.base + p.hop * domain_hops(t.r) + t.latency * p.tree_latency * t.log_domains / 2),
        t.two_levels(1, p.efficiency, 1, p.crossing_efficiency)};
}

inline constexpr Algorithm tree{
    .name = "tree",
    .nccl_words = {"Tree"},
    .across = {.all_reduce = tree_all_reduce,
               .broadcast = tree_broadcast,
               .reduce = tree_broadcast},
    .pattern = TrafficPattern::tree,
};

} // namespace trainyard::algorithms
