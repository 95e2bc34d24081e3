#pragma once

// The timeline of what was simulated.

#include "gui/model/live_run.h"
#include "gui/timeline/timeline_model.h"

namespace trainyard::gui {

// The run with records of those lanes; simulated again in `session` where it has none of them.
// Throws Cancelled and WorldError.
std::shared_ptr<const Outcome> recorded_outcome(const RunView& run, const LaneChoice& lanes,
                                                Session& session, const WorkControl& work);

// `run` has records. `compared`, which may be null, lies beside it; where it has none of the same
// choice of lanes it is simulated again in `session`. Throws Cancelled and WorldError.
std::shared_ptr<const TimelineModel> timeline_of(const RunView& run, const RunView* compared,
                                                 LaneOrder order, Session& session,
                                                 const WorkControl& work);

} // namespace trainyard::gui
