#pragma once

// What a track shows per pixel, and which of its slices are wide enough to be drawn one by one.

#include "gui/timeline/geometry.h"
#include "gui/timeline/timeline_model.h"

namespace trainyard::gui {

// Of `cells.size()` equal stretches of `range`. A node shows what most of its ranks do.
void cells_of(const TimelineModel& model, std::uint32_t track, TimeRange range,
              std::span<Bucket> cells);

// Slices of the row at least `least` pixels long, in time. `cells` are the row's over the scale;
// `least` must be two of them or more.
void find_wide_slices(const TimelineData& data, const SliceRow& row, const TimeScale& scale,
                      std::span<const Bucket> cells, double least,
                      std::vector<std::uint32_t>& found);

} // namespace trainyard::gui
