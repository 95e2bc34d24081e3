#pragma once

#include "sim/cost/algorithms/algorithm.h"

namespace trainyard::algorithms {

// Twice round: 2(n - d) hops inside domains, 2(d - 1) between them.
inline TimeLine ring_all_reduce(const CollectiveTerms& t, const ProtocolTerms& p)
{
    return {Seconds(p.base + 2 * (t.n - t.domains) * t.hop_ll + 2 * t.latency * (t.domains - 1)),
            t.two_levels(t.volume, p.efficiency, t.bus, p.crossing_efficiency)};
}

// Once round.
inline TimeLine ring_gather(const CollectiveTerms& t, const ProtocolTerms& p)
{
    const double first = t.r > 1 ? domain_hops(t.r) : 0;
    return {Seconds(p.base + p.hop * first + (t.n - t.domains - (t.r - 1)) * t.hop_ll +
                    t.latency * (t.form.ring_entry_crossings + t.domains - 1)),
            t.two_levels(t.volume, p.efficiency, t.bus, p.crossing_efficiency)};
}

inline constexpr Algorithm ring{
    .name = "ring",
    .nccl_words = {"Ring"},
    .inside = {.all_reduce = line_in_domain,
               .all_gather = line_in_domain,
               .reduce_scatter = line_in_domain,
               .broadcast = line_in_domain,
               .reduce = line_in_domain},
    .across = {.all_reduce = ring_all_reduce,
               .all_gather = ring_gather,
               .reduce_scatter = ring_gather},
    // Between two domains a sum takes a tree.
    .unasked = [](const CollectiveTerms& t) { return t.domains != 2 || !t.all_reduces; },
};

} // namespace trainyard::algorithms
