#pragma once

#include "sim/cost/algorithms/tree.h"

namespace trainyard::algorithms {

// NVSwitches add: a rank sends its buffer once, and the sum of its part once to all. The sums of
// domains go along a tree.
inline TimeLine nvls_all_reduce(const CollectiveTerms& t, const ProtocolTerms& p)
{
    return {
        Seconds(t.fabric.nvls_per_rank.value() * t.r + t.latency * p.tree_latency * t.log_domains),
        t.two_levels(1 + 1 / t.r, t.fabric.nvls_efficiency, out_of_domain(t), 1)};
}

inline constexpr Algorithm nvls{
    .name = "nvls",
    .nccl_words = {"NVLS", "NVLSTree"},
    .inside = {.all_reduce = nvls_all_reduce},
    .across = {.all_reduce = nvls_all_reduce},
    // In a domain a barrier has nothing to add.
    .available =
        [](const CollectiveTerms& t) {
            return t.nvswitch_sums && (t.domains > 1 || t.kind == CollectiveKind::all_reduce);
        },
    .protocols = only_simple,
    .sums = Sums::in_nvswitches,
    .pattern = TrafficPattern::nvls,
};

} // namespace trainyard::algorithms
