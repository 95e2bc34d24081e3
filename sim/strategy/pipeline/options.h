#pragma once

// What a strategy says of its pipeline besides the sizes and the schedule.

#include "sim/base/fields.h"

namespace trainyard {

struct PipelineOptions {
    std::optional<int> micro_batch_group; // interleaved: that take turns on a chunk; else pp
    std::optional<bool> norm_in_turn;     // stages hand the norm on; else as the schedule asks

    bool operator==(const PipelineOptions&) const = default;
};

template <>
const FieldTable<PipelineOptions>& fields_of<PipelineOptions>();

} // namespace trainyard
