#pragma once

// What is known of a recorded op, as the timeline's details say it.

#include "gui/timeline/slice_facts.h"
#include "sim/traces/job_trace.h"

namespace trainyard::gui {

// Of a slice of recorded_rows() of that job; a simulated one's are the timeline's own.
SliceFacts recorded_facts(const TimelineModel& model, std::uint32_t slice, const JobTrace& job);

} // namespace trainyard::gui
