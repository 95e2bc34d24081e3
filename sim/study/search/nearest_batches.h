#pragma once

// The batches beside one that no layout of a space divides.

#include "sim/study/search/possible_layouts.h"

namespace trainyard {

// The nearest below and the nearest above the space's first batch of which a layout makes whole
// micro-batches, no more than a step may have, and may fit into `room`. The lower one first; empty
// where there are none.
std::vector<std::int64_t> nearest_batches(const SearchSpace& space, const SearchBase& base,
                                          Bytes room, const WorkControl& work);

} // namespace trainyard
