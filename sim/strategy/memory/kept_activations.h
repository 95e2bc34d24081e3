#pragma once

// What the passes under way keep for backward, counted from the schedule alone.

#include "sim/strategy/lower/job_work.h"

#include <cstdint>
#include <vector>

namespace trainyard {

// By stage: the most bytes of activations that live between two passes. What lives within a pass,
// messages and buckets come on top, so a replay of the program never finds less. Requires a
// resolved job.
std::vector<std::int64_t> kept_activations(const Job& job, const JobWork& work);

} // namespace trainyard
