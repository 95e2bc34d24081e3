#pragma once

// Max-min fair sharing of links in whole bytes per second.
//
// The fair rates are the ones at which nobody can gain without someone of no higher rate losing
// (Bertsekas & Gallager 1992, 6.5.2). Found by progressive filling: the link that offers least per
// unit of coefficient fixes its users at that share. Shares are rounded down; all links of one
// share fix their users before anything is subtracted, so the result does not depend on any order.
// Demands whose ceiling is below the least share get their ceiling.

#include "sim/program/binding.h"

#include <span>

namespace trainyard::engine {

struct Demand {
    ByteRate ceiling{};
    std::span<const LinkUse> links;
};

class FairSharing {
public:
    explicit FairSharing(std::span<const ByteRate> capacities) : capacities_(capacities) {}

    // The rate of each demand. Complexity: rounds x (demands x their links), where a round fixes at
    // least one demand.
    const std::vector<ByteRate>& solve(std::span<const Demand> demands);

    // Load on a link under the last solution, in bytes per second x 2^16.
    u128 load(LinkId link) const;

private:
    // A link in a solve: what is left of it and who still wants it.
    struct Filling {
        u128 left = 0; // bytes per second x 2^16
        u128 used = 0;
        std::uint64_t wanting = 0; // sum of coefficients of demands not fixed yet
        bool touched = false;
    };

    void prepare(std::span<const Demand> demands);
    u128 least_share() const;
    bool on_tightest_link(const Demand& demand, u128 share) const;
    template <class IsFixed>
    bool fix(std::span<const Demand> demands, u128 share, const IsFixed& is_fixed);

    std::span<const ByteRate> capacities_;
    std::vector<Filling> links_;       // by LinkId
    std::vector<LinkId> touched_;      // by this solve
    std::vector<std::uint32_t> open_;  // demands not fixed yet
    std::vector<std::uint32_t> fixed_; // in this round
    std::vector<ByteRate> rates_;
};

} // namespace trainyard::engine
