#pragma once

// Where the open scenario stands among the points of a sweep.

#include "gui/explore/point_store.h"
#include "gui/explore/sweep_plan.h"
#include "gui/model/live_run.h"

namespace trainyard::gui {

// The number of the open scenario among the grid's points: its swept fields have such values, and
// what follows from them is what the point has. Nothing: it is none of them. Requires that it
// differs from the sweep's scenario in nothing else.
std::optional<std::size_t> index_of(const SweepPlan& plan, const Document& document,
                                    const ClusterDraft* cluster);

// As one beside the grid. `run`: of the document as it is now; null: not known yet.
Guest guest_of(const SweepPlan& plan, const Document& document, const ClusterDraft* cluster,
               const RunView* run);

} // namespace trainyard::gui
