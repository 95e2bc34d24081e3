#pragma once

// Which ranks form which groups.

#include "sim/base/ids.h"
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

// The dimensions tp (0), cp (1), dp (2), pp (3) from the fastest; those the text leaves out follow
// at the end. Empty when the text names anything else, or one twice.
std::optional<std::array<int, 4>> parse_rank_order(std::string_view text);

// Dense order from the fastest as the strategy says (default tp, cp, dp, pp); within a stage
// experts cut the same ranks as etp, ep, edp from the fastest. Everything is arithmetic: no tables,
// so a hundred thousand ranks cost nothing.
class RankLayout {
public:
    explicit RankLayout(const Job& job);

    int world() const { return world_; }
    RankPlace place(RankId rank) const;
    RankId rank(const RankPlace& place) const;

    // All members of this rank's group of that kind, ascending; just the rank itself when the
    // group has one. dp means the gradient group of dense parameters: DP x CP; edp that of expert
    // parameters; shard: a run of neighbours of the dp group; replicate: those of equal place in
    // each run; embedding: the devices at the ends of the pipeline, where none holds both ends (a
    // rank between them is alone); twin: those that hold the same layers; cp_a2a:
    // neighbours along cp, cp_ring: every a2a-th of them.
    std::vector<RankId> members(GroupKind kind, RankId rank) const;
    int group_size(GroupKind kind) const;
    // The rank's number in its ep group.
    int expert_rank(RankId rank) const;

private:
    // `count` ranks `stride` apart from `first`.
    static void append(std::vector<RankId>& out, int first, int count, int stride);
    std::vector<RankId> dense_members(GroupKind kind, int rank) const;
    std::vector<RankId> expert_members(GroupKind kind, int rank) const;
    std::vector<RankId> hybrid_members(GroupKind kind, RankId rank) const;
    // Ranks of these stages in the same place otherwise; the rank itself when its stage is none.
    std::vector<RankId> across_stages(const std::vector<int>& stages, int rank) const;

    // Distance of a group's members among the ranks of a stage.
    int expert_stride(GroupKind kind) const;
    // The rank's number among those of its stage, ascending.
    int number_in_stage(int rank) const;

    std::array<int, 4> size_; // tp, cp, dp, pp
    std::array<int, 4> stride_;
    int a2a_; // ranks of a cp_a2a group
    int etp_;
    int ep_;
    int shard_;   // ranks of a shard group
    bool spread_; // edp groups side by side, ep groups across
    int world_;
    std::vector<int> ends_;               // stages that agree on a shared embedding
    std::vector<std::vector<int>> twins_; // by stage
};

} // namespace trainyard
