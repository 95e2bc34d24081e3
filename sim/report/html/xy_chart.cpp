#include "sim/report/html/xy_chart.h"

#include "sim/report/html/palette.h"
#include "sim/report/html/svg.h"
#include "sim/report/text/table.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace trainyard {

namespace {

constexpr double left = 84;
constexpr double right = chart_width - 20;
constexpr double top = 16;
constexpr double bottom = 336;
constexpr double legend_top = bottom + 52;
constexpr double letter = 6.0; // mean advance of a label

struct ChartRange {
    double low = std::numeric_limits<double>::infinity();
    double high = -std::numeric_limits<double>::infinity();

    void include(double value)
    {
        low = std::min(low, value);
        high = std::max(high, value);
    }
};

// Powers of two; at most about sixteen of them.
std::vector<double> octave_ticks(double low, double high)
{
    const double step = std::max(1.0, std::ceil(std::log2(high / low) / 16));
    std::vector<double> out;
    for (double power = std::ceil(std::log2(low)); power <= std::log2(high); power += step)
        out.push_back(std::exp2(power));
    return out;
}

// Where values of one axis lie between two coordinates.
class ChartScale {
public:
    ChartScale(const ChartAxis& axis, ChartRange values, double from, double to)
        : scale_(axis.scale), from_(from), to_(to)
    {
        if (is_log()) {
            const double air = std::max(std::pow(values.high / values.low, 0.06), 1.04);
            low_ = values.low / air;
            high_ = values.high * air;
            return;
        }
        const double size = std::max(std::abs(values.high), std::abs(values.low));
        const double air = std::max(0.06 * (values.high - values.low), 0.02 * size);
        low_ = axis.scale == AxisScale::from_zero ? 0 : values.low - air;
        if (values.low >= 0)
            low_ = std::max(low_, 0.0);
        high_ = std::min(values.high + air, axis.most.value_or(values.high + air));
    }

    double at(double value) const
    {
        const double share = is_log() ? std::log(value / low_) / std::log(high_ / low_)
                                      : (value - low_) / (high_ - low_);
        return from_ + share * (to_ - from_);
    }

    bool shows(double value) const { return value >= low_ && value <= high_; }

    std::vector<double> ticks(int count) const
    {
        if (scale_ == AxisScale::octaves)
            return octave_ticks(low_, high_);
        if (is_log())
            return log_ticks(low_, high_);
        std::vector<double> out;
        const std::vector<double> steps = round_ticks(high_ - low_, count);
        const double step = steps.size() > 1 ? steps[1] : high_ - low_;
        for (double tick = std::ceil(low_ / step) * step; tick <= high_ && step > 0; tick += step)
            out.push_back(std::abs(tick) < step * 1e-9 ? 0 : tick);
        return out;
    }

private:
    bool is_log() const { return scale_ == AxisScale::log || scale_ == AxisScale::octaves; }

    AxisScale scale_;
    double from_;
    double to_;
    double low_ = 0;
    double high_ = 1;
};

// A shape of about that radius: disc, square, triangle, diamond, in turn.
std::string mark(double x, double y, double radius, std::size_t number)
{
    const auto polygon = [&](std::initializer_list<std::pair<double, double>> corners) {
        std::string points;
        for (const auto& [dx, dy] : corners)
            points += fmt::format("{}{},{}", points.empty() ? "" : " ", coordinate(x + dx),
                                  coordinate(y + dy));
        return fmt::format("polygon points=\"{}\"", points);
    };
    const double r = radius;
    switch (number % 4) {
    case 1:
        return polygon(
            {{-0.9 * r, -0.9 * r}, {0.9 * r, -0.9 * r}, {0.9 * r, 0.9 * r}, {-0.9 * r, 0.9 * r}});
    case 2:
        return polygon({{0, -1.25 * r}, {1.15 * r, 0.85 * r}, {-1.15 * r, 0.85 * r}});
    case 3:
        return polygon({{0, -1.3 * r}, {1.3 * r, 0}, {0, 1.3 * r}, {-1.3 * r, 0}});
    default:
        return fmt::format("circle cx=\"{}\" cy=\"{}\" r=\"{}\"", coordinate(x), coordinate(y),
                           coordinate(r));
    }
}

// The strong ones of the palette first: thin lines of the pale ones are hard to see.
std::size_t palette_index(std::size_t number)
{
    static constexpr std::size_t order[]{3, 1, 4, 5, 6, 7, 0, 2};
    return order[number % std::size(order)];
}

class ChartPicture {
public:
    explicit ChartPicture(const XyChart& chart)
        : chart_(chart),
          x_(chart.x, values_of(chart, ChartLimit::Of::x), left, right),
          y_(chart.y, values_of(chart, ChartLimit::Of::y), bottom, top)
    {}

    std::string figure()
    {
        std::string body = grid();
        for (const ChartSeries& series : chart_.series)
            body += band(series);
        for (const ChartLimit& limit : chart_.limits)
            body += line_of(limit);
        for (const ChartSeries& series : chart_.series)
            body += join(series);
        for (const ChartSeries& series : chart_.series)
            body += marks(series);
        for (const ChartSeries& series : chart_.series)
            body += labels(series);
        const Legend legend = legend_of();
        return svg_figure(chart_width, legend_top + legend.height, chart_.label,
                          body + legend.body);
    }

private:
    // Of points, their intervals, and limits within a factor of three of these.
    static ChartRange values_of(const XyChart& chart, ChartLimit::Of axis)
    {
        ChartRange range;
        for (const ChartSeries& series : chart.series)
            for (const ChartPoint& point : series.points) {
                if (axis == ChartLimit::Of::x) {
                    range.include(point.x);
                    continue;
                }
                range.include(point.y);
                range.include(point.low.value_or(point.y));
                range.include(point.high.value_or(point.y));
            }
        const ChartRange points = range;
        for (const ChartLimit& limit : chart.limits)
            if (limit.of == axis && limit.at <= 3 * points.high && limit.at >= points.low / 3)
                range.include(limit.at);
        return range;
    }

    std::string grid() const
    {
        std::string out;
        for (const double tick : y_.ticks(7)) {
            out += svg_line(left, y_.at(tick), right, y_.at(tick), "grid");
            out += svg_text({left - 7, y_.at(tick) + 4, Anchor::end, "muted"}, chart_.y.text(tick));
        }
        for (const double tick : x_.ticks(10)) {
            out += svg_line(x_.at(tick), top, x_.at(tick), bottom, "grid");
            out +=
                svg_text({x_.at(tick), bottom + 16, Anchor::middle, "muted"}, chart_.x.text(tick));
        }
        out += svg_text({(left + right) / 2, bottom + 36, Anchor::middle, "muted"}, chart_.x.title);
        const double middle = (top + bottom) / 2;
        return out + fmt::format("<text transform=\"rotate(-90 14 {0})\" x=\"14\" y=\"{0}\" "
                                 "text-anchor=\"middle\" class=\"muted\">{1}</text>",
                                 coordinate(middle), escaped(chart_.y.title));
    }

    std::string line_of(const ChartLimit& limit)
    {
        if (limit.of == ChartLimit::Of::x) {
            if (!x_.shows(limit.at))
                return "";
            const double x = x_.at(limit.at);
            taken_.push_back({x - 1, top, 2, bottom - top});
            return svg_line(x, top, x, bottom, "limit") + note(limit.title, beside(x, limit.title));
        }
        if (!y_.shows(limit.at))
            return "";
        const double y = y_.at(limit.at);
        taken_.push_back({left, y - 1, right - left, 2});
        return svg_line(left, y, right, y, "limit") +
               note(limit.title, {right - 4, y - 5, Anchor::end, "limit-text"});
    }

    static Box box_of(const std::string& text, const TextAt& at)
    {
        const double width = letter * static_cast<double>(text_width(text));
        return {at.anchor == Anchor::end ? at.x - width : at.x, at.y - 11, width, 14};
    }

    std::string note(const std::string& text, const TextAt& at)
    {
        taken_.push_back(box_of(text, at));
        return svg_text(at, text);
    }

    // At one end of an upright line, on one side: where no mark is covered, if there is such.
    TextAt beside(double x, const std::string& text) const
    {
        const TextAt usual{x + 5, top + 12, Anchor::start, "limit-text"};
        const auto covers = [&](const Box& box) {
            return std::ranges::any_of(chart_.series, [&](const ChartSeries& series) {
                return std::ranges::any_of(series.points, [&](const ChartPoint& point) {
                    const double r = point.radius + (point.ringed ? 6 : 1);
                    return overlap(box, {x_.at(point.x) - r, y_.at(point.y) - r, 2 * r, 2 * r});
                });
            });
        };
        for (const double y : {top + 12, bottom - 8})
            for (const Anchor side : {Anchor::start, Anchor::end}) {
                const TextAt at{side == Anchor::start ? x + 5 : x - 5, y, side, "limit-text"};
                const Box box = box_of(text, at);
                if (box.x >= left && box.x + box.width <= right && !covers(box))
                    return at;
            }
        return usual;
    }

    static bool overlap(const Box& a, const Box& b)
    {
        return a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height &&
               b.y < a.y + a.height;
    }

    std::string colour_of(const ChartSeries& series, std::string_view kind) const
    {
        return fmt::format("{}-{}", kind, palette_index(series.number));
    }

    std::string band(const ChartSeries& series) const
    {
        std::string above;
        std::string below;
        std::size_t count = 0;
        for (const ChartPoint& point : series.points)
            if (point.low && point.high) {
                const std::string x = coordinate(x_.at(point.x));
                above += fmt::format("{},{} ", x, coordinate(y_.at(*point.high)));
                below = fmt::format("{},{} ", x, coordinate(y_.at(*point.low))) + below;
                ++count;
            }
        return count < 2 ? ""
                         : fmt::format("<polygon class=\"{} band\" points=\"{}{}\"/>",
                                       colour_of(series, "s"), above, below);
    }

    // Labels keep off a line.
    void take(double x1, double y1, double x2, double y2)
    {
        const int pieces = std::max(1, static_cast<int>(std::hypot(x2 - x1, y2 - y1) / 5));
        for (int i = 0; i <= pieces; ++i)
            taken_.push_back(
                {x1 + (x2 - x1) * i / pieces - 1, y1 + (y2 - y1) * i / pieces - 1, 2, 2});
    }

    std::string join(const ChartSeries& series)
    {
        if (series.join == ChartJoin::none || series.points.size() < 2)
            return "";
        std::string points;
        double last_x = 0;
        double last_y = 0;
        for (const ChartPoint& point : series.points) {
            const double x = x_.at(point.x);
            const double y = y_.at(point.y);
            if (series.join == ChartJoin::steps && !points.empty()) {
                take(last_x, last_y, last_x, y);
                points += fmt::format("{},{} ", coordinate(last_x), coordinate(y));
                last_y = y;
            }
            if (!points.empty())
                take(last_x, last_y, x, y);
            points += fmt::format("{},{} ", coordinate(x), coordinate(y));
            last_x = x;
            last_y = y;
        }
        const bool dashed = series.join != ChartJoin::line;
        return fmt::format("<polyline class=\"curve {}{}\" points=\"{}\"/>", colour_of(series, "l"),
                           dashed ? " dashed" : "", points);
    }

    std::string marks(const ChartSeries& series)
    {
        std::string out;
        for (const ChartPoint& point : series.points) {
            const double x = x_.at(point.x);
            const double y = y_.at(point.y);
            if (point.low && point.high)
                out +=
                    svg_line(x, y_.at(*point.low), x, y_.at(*point.high), colour_of(series, "l"));
            if (!series.marked)
                continue;
            const double r = point.radius;
            const double room = r + (point.ringed ? 6 : 0);
            taken_.push_back({x - room, y - room, 2 * room, 2 * room});
            if (point.ringed)
                out += fmt::format("<circle class=\"ring\" cx=\"{}\" cy=\"{}\" r=\"{}\"/>",
                                   coordinate(x), coordinate(y), coordinate(r + 4.5));
            out += fmt::format("<{} class=\"{} mark\"><title>{}</title></{}>",
                               mark(x, y, r, series.number), colour_of(series, "s"),
                               escaped(point.tip), series.number % 4 == 0 ? "circle" : "polygon");
        }
        return out;
    }

    bool is_free(const Box& box) const
    {
        if (box.x < left || box.x + box.width > right || box.y < top || box.y + box.height > bottom)
            return false;
        return std::ranges::none_of(taken_, [&](const Box& other) { return overlap(box, other); });
    }

    // Above, below, right or left of its point, where it covers nothing.
    std::string label(const ChartPoint& point)
    {
        constexpr double height = 12;
        const double width = letter * static_cast<double>(text_width(point.label));
        const double x = x_.at(point.x);
        const double y = y_.at(point.y);
        const double far = point.radius + (point.ringed ? 7 : 3);
        for (const auto& [dx, dy] :
             {std::pair(-width / 2, -far - height), std::pair(-width / 2, far),
              std::pair(far, -height / 2), std::pair(-far - width, -height / 2),
              std::pair(far, -far - height), std::pair(far, far)})
        {
            const Box box{x + dx, y + dy, width, height};
            if (!is_free(box))
                continue;
            taken_.push_back(box);
            return svg_text({box.x, box.y + 10, Anchor::start, "muted"}, point.label);
        }
        return "";
    }

    std::string labels(const ChartSeries& series)
    {
        std::string out;
        for (const bool ringed : {true, false})
            for (const ChartPoint& point : series.points)
                if (point.ringed == ringed && !point.label.empty())
                    out += label(point);
        return out;
    }

    Legend legend_of() const
    {
        constexpr double line = 20;
        Legend legend;
        double x = left;
        double y = legend_top;
        for (const ChartSeries& series : chart_.series) {
            if (series.title.empty())
                continue;
            const double needed = 46 + 6.6 * static_cast<double>(text_width(series.title));
            if (x > left && x + needed > right) {
                x = left;
                y += line;
            }
            if (series.join != ChartJoin::none)
                legend.body += fmt::format(
                    "<polyline class=\"curve {}{}\" points=\"{},{} {},{}\"/>",
                    colour_of(series, "l"), series.join == ChartJoin::line ? "" : " dashed",
                    coordinate(x), coordinate(y + 6), coordinate(x + 22), coordinate(y + 6));
            if (series.marked)
                legend.body +=
                    fmt::format("<{} class=\"{} mark\"/>", mark(x + 11, y + 6, 4, series.number),
                                colour_of(series, "s"));
            legend.body += svg_text({x + 28, y + 10}, series.title);
            x += needed;
            legend.height = y - legend_top + line;
        }
        return legend;
    }

    const XyChart& chart_;
    ChartScale x_;
    ChartScale y_;
    std::vector<Box> taken_;
};

} // namespace

std::string xy_figure(const XyChart& chart)
{
    const bool empty = std::ranges::all_of(
        chart.series, [](const ChartSeries& series) { return series.points.empty(); });
    return empty ? "" : ChartPicture(chart).figure();
}

std::vector<double> log_ticks(double low, double high)
{
    std::vector<double> out;
    if (high / low < 3) { // few of the others lie between
        const std::vector<double> steps = round_ticks(high - low, 8);
        const double step = steps.size() > 1 ? steps[1] : high - low;
        for (double tick = std::ceil(low / step) * step; tick <= high; tick += step)
            out.push_back(tick);
        return out;
    }
    const double ratio = high / low;
    const std::vector<double> factors =
        ratio > 2000 ? std::vector{1.0}
        : ratio >= 8 ? std::vector{1.0, 2.0, 5.0}
                     : std::vector{1.0, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 8.0};
    for (double power = std::floor(std::log10(low)); power <= std::log10(high); ++power)
        for (const double factor : factors)
            if (const double tick = factor * std::pow(10.0, power); tick >= low && tick <= high)
                out.push_back(tick);
    return out;
}

} // namespace trainyard
