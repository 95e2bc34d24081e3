#pragma once

// What to say of a sweep in which no point can be.

#include "gui/explore/point_store.h"
#include "gui/explore/sweep_plan.h"

#include <QString>

namespace trainyard::gui {

// The most frequent reasons with counts, the point that came nearest, and what would help; HTML.
// Requires points, none of them feasible.
QString nothing_fits_text(const PointStore& store, const SweepPlan& plan);

// "612 of 1,344 points can be; 700 do not fit, 32 cannot be for other reasons"
QString counts_text(const PointStore& store);

} // namespace trainyard::gui
