#pragma once

#include "sim/program/program.h"

namespace trainyard {

// What a block use is about, for the timeline.
struct UseIndex {
    std::uint16_t micro_batch = BlockUse::no_index;
    std::uint16_t layer = BlockUse::no_index; // or bucket, unit
};

} // namespace trainyard
