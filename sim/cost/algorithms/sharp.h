#pragma once

#include "sim/cost/algorithms/algorithm.h"

namespace trainyard::algorithms {

// Switches of the network add: each domain's sum, of its NVSwitches where they add, leaves once.
// Between two domains that takes what NVLS and trees do.
inline TimeLine sharp_all_reduce(const CollectiveTerms& t, const ProtocolTerms& p)
{
    const double inside = t.nvswitch_sums ? t.fabric.nvls_per_rank.value() * t.r
                                          : p.base + t.passes * p.hop * domain_hops(t.r);
    return {Seconds(inside + t.latency * p.tree_latency),
            t.nvswitch_sums ? t.two_levels(1 + 1 / t.r, t.fabric.nvls_efficiency, 1, 1)
                            : t.two_levels(t.volume, p.efficiency, 1, 1)};
}

inline constexpr Algorithm sharp{
    .name = "sharp",
    .nccl_words = {"CollnetDirect", "CollnetChain"},
    .across = {.all_reduce = sharp_all_reduce},
    .available = [](const CollectiveTerms& t) { return t.network_sums; },
    .protocols = only_simple,
    .sums = Sums::in_network,
    .pattern = TrafficPattern::tree,
};

} // namespace trainyard::algorithms
