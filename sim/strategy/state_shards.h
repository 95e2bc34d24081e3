#pragma once

// Over which ranks model states are cut, and which ranks hold copies of the same shard.

#include "sim/strategy/rank_layout.h"

namespace trainyard {

// Ranks with the same parameters before any cut: `ranks` x `replicas`.
struct StateShards {
    GroupKind group = GroupKind::dp; // cuts states
    int ranks = 1;
    GroupKind copies = GroupKind::replicate; // HSDP: holds the same shard
    int replicas = 1;

    int all() const { return ranks * replicas; }
    bool operator==(const StateShards&) const = default;
};

// Dense parameters over DP x CP, experts over expert-DP; with `shard_group` (HSDP, Zhao 2023
// section 3.2.2) over the ranks of a shard group, of which there are `replicas`.
StateShards dense_shards(const Job& job);
StateShards expert_shards(const Job& job);

} // namespace trainyard
