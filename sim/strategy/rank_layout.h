#pragma once

// Which ranks form which groups.

#include "sim/strategy/job.h"

#include <array>

namespace trainyard {

struct RankPlace {
    int tp = 0;
    int cp = 0;
    int dp = 0;
    int pp = 0;

    bool operator==(const RankPlace&) const = default;
};

// Dense order from the fastest as the strategy says (default tp, cp, dp, pp); within a stage
// experts cut the same ranks as etp, ep, edp from the fastest.
class RankLayout {
public:
    explicit RankLayout(const Job& job);

    int world() const { return world_; }
    RankPlace place(RankId rank) const;
    RankId rank(const RankPlace& place) const;

    // All members of this rank's group of that kind, in group order; just the rank itself when the
    // group has one. dp means the gradient group of dense parameters: DP x CP.
    std::vector<RankId> members(GroupKind kind, RankId rank) const;
    int group_size(GroupKind kind) const;

private:
    std::array<int, 4> size_; // tp, cp, dp, pp
    std::array<int, 4> stride_;
    int etp_;
    int ep_;
    int world_;
};

} // namespace trainyard
