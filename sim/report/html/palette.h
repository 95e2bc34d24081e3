#pragma once

// Colours and hatches: told apart by colour-blind readers (Okabe and Ito 2008) and in print, since
// communication is hatched and no two hatches agree.

#include "sim/engine/engine.h"
#include "sim/report/timeline/timeline.h"

namespace trainyard {

// CSS class that fills with the kind's colour or hatch.
std::string css_class(TimeKind kind);
std::string css_class(SliceKind kind);

// Class of the i-th of several series without a meaning of their own (memory kinds); repeats after
// eight.
std::string series_class(std::size_t index);

// Rules for those classes, and the patterns that they refer to: once per page or picture.
std::string palette_style();
std::string palette_patterns(); // goes into <defs>

// A swatch with its name; `row` wraps at `width`. Returns the SVG and the height used.
struct LegendEntry {
    std::string css_class;
    std::string title;
};
struct Legend {
    std::string body;
    double height = 0;
};
Legend svg_legend(const std::vector<LegendEntry>& entries, double x, double y, double width);

} // namespace trainyard
