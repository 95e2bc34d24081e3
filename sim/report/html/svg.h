#pragma once

// Pieces of SVG and HTML text.

#include <string>
#include <string_view>
#include <vector>

namespace trainyard {

// Of every chart of a step: names stand at its left, values at its right.
inline constexpr double chart_width = 1000;
inline constexpr double label_width = 150;
inline constexpr double plot_width = chart_width - label_width - 70;

// & < > " ' as entities, control characters dropped: safe as text and in quoted attributes.
std::string escaped(std::string_view text);

// A coordinate: two decimals, no trailing zeros.
std::string coordinate(double value);

struct Box {
    double x = 0;
    double y = 0;
    double width = 0;
    double height = 0;
};

// A filled rectangle with a tooltip (none when empty). `css_class` is trusted, `title` is escaped.
std::string svg_rect(const Box& box, std::string_view css_class, std::string_view title = {});

enum class Anchor { start, middle, end };

struct TextAt {
    double x = 0;
    double y = 0; // of the base line
    Anchor anchor = Anchor::start;
    std::string_view css_class = {};
};
std::string svg_text(const TextAt& at, std::string_view text);

std::string svg_line(double x1, double y1, double x2, double y2, std::string_view css_class);

// An <svg> that scales with its container; `label` is read out by screen readers.
std::string svg_figure(double width, double height, std::string_view label, std::string_view body);

// About `count` round numbers (1, 2 or 5 times a power of ten) that divide 0..`end`.
std::vector<double> round_ticks(double end, int count);

} // namespace trainyard
