#pragma once

// What a strategy says of its pipeline besides the sizes and the schedule.

#include "sim/base/field_names.h"

#include <string>

namespace trainyard {

struct PipelineOptions {
    std::optional<int> micro_batch_group; // interleaved: that take turns on a chunk; else pp
    std::string layout;                   // what each virtual stage holds (layout.h)
    bool account_for_embedding = false;   // it counts as a layer of the first stage
    bool account_for_loss = false;        // likewise, of the last one
    std::optional<bool> norm_in_turn;     // stages hand the norm on; else as the schedule asks

    bool operator==(const PipelineOptions&) const = default;
};

template <>
const FieldTable<PipelineOptions>& fields_of<PipelineOptions>();

} // namespace trainyard
