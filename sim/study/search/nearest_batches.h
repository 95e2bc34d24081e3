#pragma once

// Batches that layouts divide, near one that is wanted.

#include "sim/study/search/possible_layouts.h"

namespace trainyard {

// The nearest below and the nearest above the space's first batch of which a layout makes whole
// micro-batches, no more than a step may have, and may fit into `room`. The lower one first; empty
// where there are none.
std::vector<std::int64_t> nearest_batches(const SearchSpace& space, const SearchBase& base,
                                          Bytes room, const WorkControl& work);

// A batch within a share `near` of what is wanted, that many numbers of replicas of so many devices
// divide, each with a share that makes micro-batches of many sizes. Where there is none, the whole
// number nearest to it.
std::int64_t batch_near(double wanted, int devices, double near);

} // namespace trainyard
