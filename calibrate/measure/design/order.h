#pragma once

// In which order points are measured.

#include "calibrate/measure/samples.h"

namespace trainyard {

// Launches in turn; in each the points of one communicator after another's; communicators, and the
// points of each, shuffled. The same for the same points and seed.
//
// Shuffled, so that a machine that gets slower while it is measured shows as noise of every size,
// collective and type, not as a law of one of them. A communicator's points stay together, because
// making one takes seconds on many ranks and its buffers memory of every device, so that only one
// is open at a time: a drift over minutes may look like a difference of groups therefore. Every
// launch has its own order, so that the spread over launches shows it.
std::vector<Point> in_measuring_order(std::vector<Point> points, std::uint64_t seed);

} // namespace trainyard
