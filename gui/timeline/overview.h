#pragma once

// The whole step in a narrow band: how the time of all ranks shown is shared out, and which part
// of it is in sight.

#include "gui/timeline/geometry.h"
#include "gui/timeline/pyramid.h"

namespace trainyard::gui {

// `columns` equal parts of all time, the mean of all ranks; of two runs the first. On all cores.
// Throws Cancelled.
std::vector<Bucket> make_overview(const TimelineData& data, const std::vector<RowPyramid>& pyramids,
                                  std::size_t columns, const WorkControl& work = {});

// What a pointer takes hold of.
enum class OverviewGrip : std::uint8_t { outside, left, right, middle };

// The window over the part in sight, in pixels of the band.
struct OverviewWindow {
    double left = 0;
    double right = 0;

    bool operator==(const OverviewWindow&) const = default;
};

inline constexpr double least_overview_window = 8; // pixels, so that it can be seen and held

OverviewWindow window_of(const TimeScale& band, TimeRange in_sight);
OverviewGrip grip_at(const OverviewWindow& window, double x);
// What is in sight after the grip went from one x to another. An end stays a pixel from the other.
TimeRange dragged(const TimeScale& band, TimeRange before, OverviewGrip grip, double by);
// The same length about x, inside the band.
TimeRange centred(const TimeScale& band, TimeRange before, double x);

} // namespace trainyard::gui
