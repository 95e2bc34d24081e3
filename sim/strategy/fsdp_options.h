#pragma once

// Options of fully sharded data parallel (FSDP, FSDP2, ZeRO-3).

#include "sim/base/field_names.h"
#include "sim/base/vocabulary.h"

#include <optional>

namespace trainyard {

struct FsdpOptions {
    int unit_layers = 1;                 // layers gathered together; 0: all of a (virtual) stage
    std::optional<int> forward_prefetch; // units gathered ahead in forward, else Strategy::prefetch
    std::optional<int> backward_prefetch; // ... in backward
    bool limit_all_gathers = true;        // gathers wait for the units before them to be freed
    bool root_unit = true;            // embedding and head stay gathered from forward to backward
    std::optional<int> reshard_ranks; // after forward kept in shards over so many ranks
    // Free units after backward; else they stay gathered over all micro-batches of the step.
    std::optional<bool> reshard_after_backward; // absent: when pp = 1
    std::optional<bool>
        no_sync; // sum whole gradients of micro-batches, reduce once; absent: pp > 1
    std::optional<Precision> param_dtype;  // of gathered parameters
    std::optional<Precision> reduce_dtype; // of gradients on their way

    bool operator==(const FsdpOptions&) const = default;
};

template <>
const FieldTable<FsdpOptions>& fields_of<FsdpOptions>();

} // namespace trainyard
