#include "sim/report/fit/fit_chart.h"

#include "sim/base/units.h"
#include "sim/report/html/svg.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

namespace trainyard {
namespace {

constexpr double width = 1000;
constexpr double plot_left = 70;
constexpr double plot_right = 985;
constexpr double plot_top = 14;
constexpr double plot_bottom = 300; // of the times
constexpr double residual_top = 336;
constexpr double residual_bottom = 436;
constexpr double height = 476;

// Where sizes and times stand, both on logarithmic axes.
class Axes {
public:
    explicit Axes(const SweepFit& fit)
    {
        const auto log_size = [](Bytes size) {
            return std::log2(static_cast<double>(size.value()));
        };
        first_ = log_size(fit.points.front().size);
        last_ = std::max(first_ + 1, log_size(fit.points.back().size));
        const auto [fastest, slowest] =
            std::minmax_element(fit.points.begin(), fit.points.end(),
                                [](const auto& a, const auto& b) { return a.time < b.time; });
        low_ = std::floor(std::log10(fastest->time.value() * 0.9));
        high_ = std::max(low_ + 1, std::ceil(std::log10(slowest->time.value() * 1.1)));
        for (const Residual& residual : fit.left_out)
            range_ = std::max(range_, 100 * std::abs(residual.error));
        range_ = std::min(100.0, 5 * std::ceil(range_ / 5));
    }

    double x(double size) const
    {
        return plot_left + (std::log2(size) - first_) / (last_ - first_) * (plot_right - plot_left);
    }
    double y(double seconds) const
    {
        return plot_bottom -
               (std::log10(seconds) - low_) / (high_ - low_) * (plot_bottom - plot_top);
    }
    double residual_y(double percent) const
    {
        const double share = std::clamp(percent / range_, -1.0, 1.0);
        return (residual_top + residual_bottom) / 2 - share * (residual_bottom - residual_top) / 2;
    }

    std::string grid() const
    {
        std::string out;
        for (double power = low_; power <= high_; ++power) {
            const double at = y(std::pow(10.0, power));
            out += svg_line(plot_left, at, plot_right, at, "grid");
            out += svg_text({plot_left - 6, at + 4, Anchor::end, "muted"},
                            to_display(Seconds(std::pow(10.0, power))));
        }
        const double step = std::max(1.0, std::ceil((last_ - first_) / 14));
        for (double power = std::ceil(first_); power <= last_; power += step) {
            const double at = x(std::exp2(power));
            out += svg_line(at, plot_top, at, plot_bottom, "grid");
            out += svg_line(at, residual_top, at, residual_bottom, "grid");
            out += svg_text({at, residual_bottom + 16, Anchor::middle, "muted"},
                            to_text(Bytes(static_cast<std::uint64_t>(std::exp2(power)))));
        }
        for (const double percent : {-range_, 0.0, range_}) {
            out +=
                svg_line(plot_left, residual_y(percent), plot_right, residual_y(percent), "grid");
            out += svg_text({plot_left - 6, residual_y(percent) + 4, Anchor::end, "muted"},
                            fmt::format("{:+.0f} %", percent));
        }
        return out;
    }

    // Sizes close enough for a smooth line.
    std::vector<double> samples() const
    {
        constexpr int count = 240;
        std::vector<double> out;
        for (int i = 0; i <= count; ++i)
            out.push_back(std::exp2(first_ + (last_ - first_) * i / count));
        return out;
    }

private:
    double first_ = 0; // log2 of bytes
    double last_ = 1;
    double low_ = 0; // log10 of seconds
    double high_ = 1;
    double range_ = 10; // percent
};

Seconds fitted(const SweepFit& fit, double size)
{
    return time_at(fit.curve, Bytes(static_cast<std::uint64_t>(std::llround(size))));
}

std::string point(double x, double y)
{
    return fmt::format("{},{} ", coordinate(x), coordinate(y));
}

// "2 MiB" where that is exact.
std::string size_text(Bytes size)
{
    const std::string exact = to_text(size);
    return exact.size() <= 8 ? exact : to_display(size);
}

std::string curve(const SweepFit& fit, const Axes& axes)
{
    std::string out;
    for (const double size : axes.samples())
        out += point(axes.x(size), axes.y(fitted(fit, size).value()));
    return fmt::format("<polyline class=\"fit\" points=\"{}\"/>", out);
}

std::string compact(const SweepFit& fit, const Axes& axes)
{
    std::string out;
    for (const double size : axes.samples()) {
        const Bytes at(static_cast<std::uint64_t>(std::llround(size)));
        out += point(axes.x(size), axes.y(time_at(fit.lines, at).value()));
    }
    return fmt::format("<polyline class=\"compact\" points=\"{}\"/>", out);
}

std::string band(const SweepFit& fit, const Axes& axes)
{
    std::string above;
    std::string below;
    for (const double size : axes.samples()) {
        const Bytes at(static_cast<std::uint64_t>(std::llround(size)));
        const Interval interval = prediction_interval(fit.curve, fit.leave_one_out, at);
        above += point(axes.x(size), axes.y(interval.high));
        below = point(axes.x(size), axes.y(interval.low)) + below;
    }
    return fmt::format("<polygon class=\"band\" points=\"{}{}\"/>", above, below);
}

std::string points(const SweepFit& fit, const Axes& axes)
{
    std::string out;
    for (const TimedSize& measured : fit.points) {
        const double size = static_cast<double>(measured.size.value());
        out += fmt::format("<circle class=\"measured\" cx=\"{}\" cy=\"{}\" r=\"3.2\"><title>{}: "
                           "{}</title></circle>",
                           coordinate(axes.x(size)), coordinate(axes.y(measured.time.value())),
                           size_text(measured.size), to_display(measured.time));
    }
    return out;
}

std::string switches(const SweepFit& fit, const Axes& axes)
{
    std::string out;
    for (const Bytes size : switch_points(fit.lines)) {
        const double at = axes.x(static_cast<double>(size.value()));
        if (at < plot_left || at > plot_right)
            continue;
        out += svg_line(at, plot_top, at, plot_bottom, "switch");
        out += svg_text({at + 4, plot_top + 12, Anchor::start, "muted"}, to_display(size));
    }
    return out;
}

std::string residuals(const SweepFit& fit, const Axes& axes)
{
    std::string out;
    for (const Residual& residual : fit.left_out) {
        const double at = axes.x(static_cast<double>(residual.size.value()));
        const double y = axes.residual_y(100 * residual.error);
        out += svg_line(at, axes.residual_y(0), at, y, "stem");
        out += fmt::format("<circle class=\"measured\" cx=\"{}\" cy=\"{}\" r=\"2.6\"><title>{}: "
                           "{:+.1f} %</title></circle>",
                           coordinate(at), coordinate(y), size_text(residual.size),
                           100 * residual.error);
    }
    return out;
}

} // namespace

std::string_view fit_chart_style()
{
    return R"(
svg .measured{fill:var(--page);stroke:var(--ink);stroke-width:1.3}
svg .fit{fill:none;stroke:#0072b2;stroke-width:2}
svg .compact{fill:none;stroke:#d55e00;stroke-width:1.3;stroke-dasharray:6 4}
svg .band{fill:#0072b2;opacity:.16}
svg .switch{stroke:#d55e00;stroke-width:1;stroke-dasharray:2 3}
svg .stem{stroke:#0072b2;stroke-width:1.6}
.legend span{margin-right:18px}
.legend .key{display:inline-block;width:22px;height:0;border-top:2px solid #0072b2;vertical-align:4px;
margin-right:6px}
.legend .key.dashed{border-top:2px dashed #d55e00}
.legend .key.wide{border-top:9px solid #0072b2;opacity:.2;vertical-align:0}
.legend .key.dot{width:7px;height:7px;border:1.3px solid var(--ink);border-radius:50%;vertical-align:0}
)";
}

std::string fit_chart(const SweepFit& fit)
{
    const Axes axes(fit);
    const std::string body =
        axes.grid() + band(fit, axes) + switches(fit, axes) + compact(fit, axes) +
        curve(fit, axes) + points(fit, axes) +
        svg_text({plot_left, residual_top - 8, Anchor::start, "muted"},
                 "error at sizes left out: fitted / measured - 1") +
        residuals(fit, axes) +
        svg_text({(plot_left + plot_right) / 2, height - 6, Anchor::middle, "muted"},
                 "size of the buffer");
    return svg_figure(width, height, fmt::format("Times of {} over size", fit.source), body);
}

} // namespace trainyard
