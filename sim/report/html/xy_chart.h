#pragma once

// Charts of quantities against each other, as <svg> for a page that has the palette.

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace trainyard {

enum class AxisScale {
    linear,    // as far as the values go
    from_zero, // linear, from zero on
    log,       // values above zero
    octaves    // the same with ticks at powers of two
};

struct ChartAxis {
    std::string title; // with the unit
    AxisScale scale = AxisScale::linear;
    std::function<std::string(double)> text; // of a tick
    std::optional<double> most = {};         // no value can be above: nor is the axis
};

struct ChartPoint {
    double x = 0;
    double y = 0;
    std::string label = {}; // beside it, where there is room
    std::string tip = {};   // when somebody points at it
    double radius = 4;
    bool ringed = false; // to be seen first
    // Of y.
    std::optional<double> low = {};
    std::optional<double> high = {};
};

enum class ChartJoin {
    none,
    line,
    steps, // behind a point its value no longer counts: along y, then along x
    dashes // a line that nobody measured
};

// Points in the order of x.
struct ChartSeries {
    std::string title;
    std::size_t number = 0; // what tells series apart: colour and shape
    ChartJoin join = ChartJoin::line;
    bool marked = true; // points are drawn
    std::vector<ChartPoint> points;
};

// A line across the chart.
struct ChartLimit {
    enum class Of : std::uint8_t { x, y };
    Of of = Of::y;
    double at = 0;
    std::string title;
};

struct XyChart {
    std::string label; // read out by screen readers
    ChartAxis x;
    ChartAxis y;
    std::vector<ChartSeries> series;
    std::vector<ChartLimit> limits; // part of the picture only where they are near the values
};

// Empty without points.
std::string xy_figure(const XyChart& chart);

// Of a logarithmic axis: 1, 2, 5 times powers of ten, powers of ten alone where these are many,
// more of them or round numbers where there are few. Requires 0 < low < high.
std::vector<double> log_ticks(double low, double high);

} // namespace trainyard
