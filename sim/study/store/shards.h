#pragma once

// Shards of one plan that were made apart, put together again.

#include "sim/study/store/plan_store.h"

namespace trainyard {

struct SearchRequest;

struct ShardNumber {
    int index = 0; // from 0 on
    int count = 1;

    bool operator==(const ShardNumber&) const = default;
};

// "3/16": the third.
std::optional<ShardNumber> parse_shard(std::string_view text);
std::string to_text(const ShardNumber& shard);

// The bounds of the whole space, from stores that together hold every shard of the plan `question`
// once, each done for as many layouts as are to be shown. Else every problem: a store of another
// plan, shards that are missing, there twice, or not done.
Checked<PossibleLayouts> merged_bounds(const std::vector<std::unique_ptr<PlanStore>>& stores,
                                       const std::string& question, std::size_t shown);

} // namespace trainyard
