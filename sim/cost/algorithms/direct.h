#pragma once

#include "sim/cost/algorithms/algorithm.h"

namespace trainyard::algorithms {

// Each rank posts to each of another domain.
inline TimeLine direct_all_to_all(const CollectiveTerms& t, const ProtocolTerms& p)
{
    const double remote = t.n - t.crossing;
    const double copy = t.fabric.local_copy_p2p / t.n;
    return {Seconds(t.base_factor * p.base + t.passes * p.hop * domain_hops(t.r) +
                    t.latency * (1 + t.log_domains) + t.form.post_per_remote_peer.value() * remote),
            t.two_levels((t.r - 1) / t.n + copy, p.efficiency, t.crossing * remote / t.n,
                         p.crossing_efficiency * t.form.all_to_all_cross)};
}

inline TimeLine message(const CollectiveTerms& t, const ProtocolTerms& p)
{
    return {Seconds(t.base_factor * p.base + t.latency * p.tree_latency / 2),
            1 / (p.crossing_efficiency * t.network_rate)};
}

// Pairs exchange without a ring or tree.
inline constexpr Algorithm direct{
    .name = "direct",
    .inside = {.all_to_all = line_in_domain, .send_receive = line_in_domain},
    .across = {.all_to_all = direct_all_to_all, .send_receive = message},
};

} // namespace trainyard::algorithms
