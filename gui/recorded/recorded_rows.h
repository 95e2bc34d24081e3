#pragma once

// Recorded ranks as rows of a timeline, above those of the simulated step of the same job.

#include "gui/timeline/timeline_data.h"
#include "sim/report/traces/recorded_slices.h"

namespace trainyard::gui {

inline constexpr std::uint8_t simulated_run = 0; // Track::run
inline constexpr std::uint8_t recorded_run = 1;

// Each recorded rank, followed by the same one of `simulated` (null: none) where that shows it;
// then the others of the simulation. Both begin together. A recorded slice's `record` is the place
// of its op in the rank's; Track::lane of a recorded rank is its place in the job.
TimelineData recorded_rows(const JobTrace& job, const RecordedPicture& picture,
                           const TimelineData* simulated);

} // namespace trainyard::gui
