#pragma once

// The colours and hatches of `kinds.h` as CSS and SVG.

#include "sim/report/kinds.h"

#include <string>
#include <vector>

namespace trainyard {

// CSS class that fills with the kind's colour or hatch.
std::string css_class(TimeKind kind);

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

// A chart as wide as the page, with its legend below `top`.
std::string figure_with_legend(std::string_view title, const std::string& body, double top,
                               const std::vector<LegendEntry>& entries);

} // namespace trainyard
