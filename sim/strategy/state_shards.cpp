#include "sim/strategy/state_shards.h"

namespace trainyard {

namespace {

StateShards hybrid(const RankLayout& layout)
{
    return {GroupKind::shard, layout.group_size(GroupKind::shard), GroupKind::replicate,
            layout.group_size(GroupKind::replicate)};
}

} // namespace

StateShards dense_shards(const Job& job)
{
    const RankLayout layout(job);
    return job.strategy.shard_group
               ? hybrid(layout)
               : StateShards{.group = GroupKind::dp, .ranks = layout.group_size(GroupKind::dp)};
}

// HSDP needs expert-DP groups that are the DP x CP groups (`step_misfits`).
StateShards expert_shards(const Job& job)
{
    const RankLayout layout(job);
    return job.strategy.shard_group
               ? hybrid(layout)
               : StateShards{.group = GroupKind::edp, .ranks = layout.group_size(GroupKind::edp)};
}

} // namespace trainyard
