#pragma once

// Points as a sweep would hand them over, without one.

#include "gui/explore/point_store.h"

namespace trainyard::gui::test {

// tp, pp and recompute, 4 x 4 x 3 points; enlarged by the values of a fourth field.
SweepGrid some_grid(std::size_t seeds = 1);

// A point with seeded figures; one in four does not fit, one in eight cannot be for another reason.
FoundPoint some_point(std::size_t index);

// All points of the grid.
std::vector<FoundPoint> some_points(const SweepGrid& grid);
PointStore store_of_some_points(const SweepGrid& grid);

} // namespace trainyard::gui::test
