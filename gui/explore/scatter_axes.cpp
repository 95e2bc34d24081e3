// The axes of the scatter: names, ticks and what is in sight.

#include "gui/explore/ranges.h"
#include "gui/explore/scatter_chart.h"

#include <algorithm>
#include <cmath>

namespace trainyard::gui {

void ScatterChart::label_axis(QCPAxis& axis, const Metric& metric, bool logarithmic)
{
    // An arrow points to where it is better. The label of an upright axis is turned with it.
    const QString better = metric.better == Better::lower ? tr("←") : tr("→");
    axis.setLabel(metric.better == Better::neither
                      ? metric.label()
                      : QStringLiteral("%1  %2").arg(metric.label(), better));
    axis.setScaleType(QCPAxis::stLinear);
    axis.setNumberFormat(QStringLiteral("gb"));
    axis.setNumberPrecision(5);
    if (metric.axis) {
        auto ticker = QSharedPointer<QCPAxisTickerText>::create();
        const auto& values = store_.grid().axes[*metric.axis].values;
        for (std::size_t i = 0; i < values.size(); ++i)
            ticker->addTick(static_cast<double>(i), value_text(values[i]));
        axis.setTicker(ticker);
    } else if (logarithmic)
        make_logarithmic(axis);
    else
        axis.setTicker(QSharedPointer<QCPAxisTicker>::create());
}

// Grows by steps, so that a picture that is being filled is not made anew with every batch.
void ScatterChart::fit_ranges()
{
    fitting_ = true;
    const auto set = [this](QCPAxis& axis, const Metric& metric, QCPRange range, bool log) {
        if (metric.axis) {
            const auto& values = store_.grid().axes[*metric.axis].values;
            axis.setRange(-0.6, static_cast<double>(values.size()) - 0.4);
            return;
        }
        if (range.lower > range.upper) {
            axis.setRange(log ? 1 : 0, log ? 10 : 1);
            return;
        }
        const QCPRange now = axis.range();
        const double off_edge = 0.02 * now.size(); // about half a mark
        const bool inside =
            range.lower >= now.lower + off_edge && range.upper <= now.upper - off_edge;
        const bool close = range.upper - range.lower > 0.85 * now.size();
        if (inside && close && !log)
            return;
        constexpr double margin = 0.07;
        if (log && range.lower > 0) {
            const double factor = std::pow(range.upper / range.lower, margin) * 1.01;
            axis.setRange(range.lower / factor, range.upper * factor);
            return;
        }
        const double room = std::max(margin * (range.upper - range.lower),
                                     std::max(std::abs(range.upper) * 1e-3, 1e-9));
        axis.setRange(range.lower - room, range.upper + room);
    };
    QCPRange x = range_x_;
    QCPRange y = range_y_;
    const std::optional<QPointF> here = here_ ? coordinates_of(*here_) : std::nullopt;
    if (here && !std::isnan(here->x()) && !std::isnan(here->y())) {
        x.expand(here->x());
        y.expand(here->y());
    }
    set(*xAxis, axes_.x, x, axes_.log_x);
    set(*yAxis, axes_.y, y, axes_.log_y);
    fitting_ = false;
}

} // namespace trainyard::gui
