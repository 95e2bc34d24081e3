#pragma once

// Cells as pixels: what happens in a stretch of time as a stack of kinds, the first of the legend
// at the bottom, each as high as its share. A pixel that several kinds are in has their mean
// colour, and so has the whole cell in a line too low for stacks.

#include "gui/timeline/colours.h"
#include "gui/timeline/pyramid.h"

namespace trainyard::gui {

// By kind; the last is of nothing.
using CellColours = std::array<QRgb, time_kind_count + 1>;
// `faded` towards the background.
CellColours cell_colours(const TimelineColours& colours, double faded = 0);

inline constexpr int least_stack = 6; // pixels high

// `rows` of pixels, `stride` apart, the uppermost first.
void paint_stacks(std::span<const Bucket> cells, const CellColours& colours, QRgb* uppermost,
                  std::ptrdiff_t stride, int rows);

} // namespace trainyard::gui
