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
    explicit FairSharing(std::span<const ByteRate> capacities)
        : capacities_(capacities), links_(capacities.size())
    {}

    // The rate of each demand. Complexity: rounds x links in use + uses of links, where a round
    // fixes at least one demand.
    const std::vector<ByteRate>& solve(std::span<const Demand> demands);

    // Load on a link under the last solution, in bytes per second x 2^16.
    u128 load(LinkId link) const { return links_[link.value].used; }

private:
    // A link in a solve: what is left of it and who still wants it.
    struct Filling {
        u128 left = 0; // bytes per second x 2^16
        u128 used = 0;
        u128 share = 0;               // left / wanting
        std::uint64_t wanting = 0;    // sum of coefficients of demands not fixed yet
        std::uint32_t user_first = 0; // into users_
        std::uint32_t user_count = 0;
        bool touched = false;
    };

    void prepare(std::span<const Demand> demands);
    void list_users(std::span<const Demand> demands);
    u128 least_share();
    void collect_small(std::span<const Demand> demands, u128 share);
    void collect_tight(u128 share);
    void fix_collected(std::span<const Demand> demands, u128 share);
    void collect(std::uint32_t demand);

    std::span<const ByteRate> capacities_;
    std::vector<Filling> links_;            // by LinkId
    std::vector<std::uint32_t> touched_;    // links of this solve
    std::vector<std::uint32_t> open_;       // links still wanted
    std::vector<std::uint32_t> users_;      // demands, by link
    std::vector<std::uint32_t> by_ceiling_; // demands, the least first
    std::size_t next_ceiling_ = 0;
    std::vector<std::uint32_t> collected_; // demands to fix in this round
    std::vector<std::uint8_t> fixed_;      // by demand
    std::vector<ByteRate> rates_;
};

} // namespace trainyard::engine
