#include "gui/calibration/curve_series.h"

#include "calibrate/fit/compact_form.h"
#include "gui/calibration/fitted.h"
#include "gui/model/qt_text.h"
#include "sim/base/units.h"
#include "sim/cost/collective_form.h"

#include <algorithm>
#include <cmath>

namespace trainyard::gui {

namespace {

constexpr int line_samples = 320;

QString percent(double share, const char* format = "%+.1f %%")
{
    return QString::asprintf(format, 100 * share);
}

QString rate_text(const Configuration& what, Bytes size, Seconds time)
{
    return QStringLiteral("%1 GB/s").arg(value_of(what, size, time, CurveAxis::bus_bandwidth), 0,
                                         'g', 3);
}

QString time_and_rate(const Configuration& what, Bytes size, Seconds time)
{
    return QStringLiteral("%1 (bus %2)")
        .arg(text_of(to_display(time)), rate_text(what, size, time));
}

QString facts_of_point(const CurveStudy& study, const StudiedSize& size)
{
    const Configuration& what = study.configuration;
    QStringList out;
    out << size_text(size.size);
    QString measured = QStringLiteral("measured %1").arg(time_and_rate(what, size.size, size.time));
    if (size.launches > 1)
        measured += QStringLiteral(", median of %1 launches, %2 to %3")
                        .arg(size.launches)
                        .arg(text_of(to_display(size.low)), text_of(to_display(size.high)));
    out << measured;
    if (size.fitted) {
        const Interval interval = prediction_interval(study, size.size);
        out << QStringLiteral("predicted %1, nine of ten from %2 to %3")
                   .arg(time_and_rate(what, size.size, *size.fitted),
                        text_of(to_display(Seconds(interval.low))),
                        text_of(to_display(Seconds(interval.high))));
    }
    if (size.left_out)
        out << QStringLiteral("residual %1: predicted without it / measured - 1")
                   .arg(percent(*size.left_out));
    for (const ReplacedTime& one : study.replaced)
        if (one.size == size.size)
            out << QStringLiteral("a first-use cost of %1 gave way to the in-place time")
                       .arg(text_of(to_display(one.measured)));
    if (size.excluded)
        out << QStringLiteral("excluded by hand: X takes it back");
    return out.join('\n');
}

CurvePoint point_of(const CurveStudy& study, const StudiedSize& size, CurveAxis quantity)
{
    const Configuration& what = study.configuration;
    CurvePoint out;
    out.size = size.size;
    out.value = value_of(what, size.size, size.time, quantity);
    const double low = value_of(what, size.size, size.low, quantity);
    const double high = value_of(what, size.size, size.high, quantity);
    out.low = std::min(low, high);
    out.high = std::max(low, high);
    out.excluded = size.excluded;
    if (size.left_out)
        out.residual = 100 * *size.left_out;
    out.facts = facts_of_point(study, size);
    return out;
}

CurvePoint replaced_point(const CurveStudy& study, const ReplacedTime& one, CurveAxis quantity)
{
    CurvePoint out;
    out.size = one.size;
    out.value = out.low = out.high =
        value_of(study.configuration, one.size, one.measured, quantity);
    out.facts =
        QStringLiteral("%1\nmeasured %2\nexcluded by the fit: a first-use cost, above 1.4 x "
                       "both neighbours while the in-place time %3 is not\nof %4")
            .arg(size_text(one.size), time_and_rate(study.configuration, one.size, one.measured),
                 text_of(to_display(one.taken)), text_of(one.source));
    return out;
}

// The sizes that were measured, else those of the table.
void take_sizes(const CurveStudy& study, CurveSeries& out)
{
    const std::vector<Knot>& knots = study.table.samples.knots;
    Bytes first = knots.empty() ? Bytes(1) : knots.front().size;
    Bytes last = knots.empty() ? Bytes(1) : knots.back().size;
    if (!study.sizes.empty()) {
        first =
            knots.empty() ? study.sizes.front().size : std::min(first, study.sizes.front().size);
        last = std::max(last, study.sizes.back().size);
    }
    out.smallest = std::max(1.0, static_cast<double>(first.value()));
    out.largest = std::max(2 * out.smallest, static_cast<double>(last.value()));
}

void take_lines(const CurveStudy& study, CurveAxis quantity, CurveSeries& out)
{
    if (study.table.samples.empty())
        return;
    const double ratio = out.largest / out.smallest;
    for (int i = 0; i <= line_samples; ++i) {
        const double size = out.smallest * std::pow(ratio, double(i) / line_samples);
        const Bytes at(static_cast<std::uint64_t>(std::llround(size)));
        const auto value = [&](Seconds time) {
            return value_of(study.configuration, at, time, quantity);
        };
        const Interval interval = prediction_interval(study, at);
        const double low = value(Seconds(interval.low));
        const double high = value(Seconds(interval.high));
        out.sizes.push_back(static_cast<double>(at.value()));
        out.fitted.push_back(value(time_at(study.table.samples, at)));
        out.low.push_back(std::min(low, high));
        out.high.push_back(std::max(low, high));
        if (!study.table.lines.empty())
            out.compact.push_back(value(time_at(study.table.lines, at)));
    }
    if (out.low == out.high) { // nobody says how wide it is
        out.low.clear();
        out.high.clear();
    }
}

// As bus bandwidth is counted: a ring crosses a rank's way out that often.
void take_line_rate(const CurveStudy& study, CurveAxis quantity, Bandwidth rate, CurveSeries& out)
{
    if (!(rate.value() > 0) || study.configuration.collective == CollectiveKind::barrier)
        return;
    const Configuration& what = study.configuration;
    const double factor = bus_factor(what.collective, what.ranks);
    for (const double size : {out.smallest, out.largest}) {
        const Seconds time(factor * size / rate.value());
        out.line_rate.push_back(quantity == CurveAxis::time ? time.value() : rate.value() / 1e9);
    }
    out.line_rate_name = QStringLiteral("line rate %1").arg(text_of(to_display(rate)));
}

QString line_text(const AlphaBetaLine& line)
{
    return QStringLiteral("%1 + S / (%2)")
        .arg(text_of(to_display(line.alpha)), text_of(to_display(line.rate)));
}

void take_switches(const CurveStudy& study, CurveSeries& out)
{
    const std::vector<AlphaBetaLine>& lines = study.table.lines;
    const std::vector<Bytes> sizes = switch_points(lines);
    for (std::size_t i = 0; i < sizes.size(); ++i) {
        const double size = static_cast<double>(sizes[i].value());
        if (size < out.smallest || size > out.largest)
            continue;
        out.switches.push_back(sizes[i]);
        out.switch_of.push_back(
            QStringLiteral("below %1: %2\nabove: %3")
                .arg(size_text(sizes[i]), line_text(lines[i]), line_text(lines[i + 1])));
    }
}

void take_ranges(CurveSeries& out, CurveAxis quantity)
{
    constexpr double least_range = 10;
    constexpr double most_range = 500;
    std::vector<double> values;
    for (const auto* points : {&out.points, &out.replaced})
        for (const CurvePoint& point : *points)
            values.insert(values.end(), {point.low, point.high});
    values.insert(values.end(), out.fitted.begin(), out.fitted.end());
    values.insert(values.end(), out.low.begin(), out.low.end());
    values.insert(values.end(), out.high.begin(), out.high.end());
    if (quantity == CurveAxis::bus_bandwidth)
        values.insert(values.end(), out.line_rate.begin(), out.line_rate.end());
    std::erase_if(values, [](double value) { return !(value > 0) || !std::isfinite(value); });
    if (!values.empty()) {
        const auto [least, most] = std::minmax_element(values.begin(), values.end());
        out.least = *least / 1.2;
        out.most = *most * 1.35; // below the labels of the switch points
    }
    double range = least_range;
    for (const CurvePoint& point : out.points)
        if (point.residual)
            range = std::max(range, 1.15 * std::abs(*point.residual));
    out.residual_range = std::min(most_range, 5 * std::ceil(range / 5));
    const double margin = std::pow(out.largest / out.smallest, 0.02);
    out.smallest /= margin;
    out.largest *= margin;
}

// What times that nobody measured here are worth.
QString worth_of(const CurveStudy& study)
{
    return study.flags.empty()
               ? QStringLiteral("grade: %1").arg(text_of(to_name(study.table.grade)))
               : text_of(study.flags.front());
}

QString note_of(const CurveStudy& study)
{
    if (!study.sizes.empty())
        return study.table.samples.empty() && !study.flags.empty() ? text_of(study.flags.back())
                                                                   : QString();
    if (study.table.samples.empty() && !study.flags.empty())
        return text_of(study.flags.front());
    return QStringLiteral("no measured points, so no residuals; ") + worth_of(study);
}

} // namespace

double value_of(const Configuration& what, Bytes size, Seconds time, CurveAxis quantity)
{
    if (quantity == CurveAxis::time)
        return time.value();
    return bus_factor(what.collective, what.ranks) * static_cast<double>(size.value()) /
           time.value() / 1e9;
}

QString size_text(Bytes size)
{
    const auto bytes = static_cast<double>(size.value());
    for (const auto& [power, name] :
         {std::pair(40, "TiB"), std::pair(30, "GiB"), std::pair(20, "MiB"), std::pair(10, "KiB")})
        if (const double unit = std::exp2(power); bytes >= unit)
            return QStringLiteral("%1 %2").arg(QString::number(bytes / unit, 'g', 4), name);
    return QStringLiteral("%1 B").arg(size.value());
}

CurveSeries series_of(const CurveStudy& study, CurveAxis quantity, Bandwidth line_rate)
{
    CurveSeries out;
    const QString details = details_of(study);
    out.title =
        details.isEmpty() ? name_of(study) : QStringLiteral("%1 (%2)").arg(name_of(study), details);
    out.value_label = quantity == CurveAxis::time ? QStringLiteral("time")
                                                  : QStringLiteral("bus bandwidth [GB/s]");
    for (const StudiedSize& size : study.sizes)
        out.points.push_back(point_of(study, size, quantity));
    for (const ReplacedTime& one : study.replaced)
        out.replaced.push_back(replaced_point(study, one, quantity));
    take_sizes(study, out);
    take_lines(study, quantity, out);
    take_switches(study, out);
    take_line_rate(study, quantity, line_rate, out);
    take_ranges(out, quantity);
    out.note = note_of(study);
    return out;
}

TableData table_of(const CurveStudy& study)
{
    constexpr int measured_column = 1;
    constexpr int launches_column = 4;
    constexpr int bandwidth_column = 7;
    TableData out;
    out.columns = {"size [B]",         "measured [us]",  "low [us]",     "high [us]",
                   "launches",         "predicted [us]", "residual [%]", "bus bandwidth [GB/s]",
                   "predicted [GB/s]", "counts"};
    const auto number = [](double value) { return QString::number(value, 'g', 5); };
    const auto add = [&](Bytes size, Seconds time, const StudiedSize* studied,
                         std::optional<Seconds> fitted, const QString& counts) {
        const Configuration& what = study.configuration;
        QStringList row{QString::number(size.value()), number(time.value() * 1e6)};
        row << (studied ? number(studied->low.value() * 1e6) : QString())
            << (studied ? number(studied->high.value() * 1e6) : QString())
            << (studied ? QString::number(studied->launches) : QString())
            << (fitted ? number(fitted->value() * 1e6) : QString())
            << (studied && studied->left_out ? number(100 * *studied->left_out) : QString())
            << number(value_of(what, size, time, CurveAxis::bus_bandwidth))
            << (fitted ? number(value_of(what, size, *fitted, CurveAxis::bus_bandwidth))
                       : QString())
            << counts;
        out.rows.push_back(row);
    };
    for (const StudiedSize& size : study.sizes)
        add(size.size, size.time, &size, size.fitted,
            size.excluded ? QStringLiteral("excluded by hand") : QStringLiteral("yes"));
    for (const ReplacedTime& one : study.replaced)
        add(one.size, one.measured, nullptr, std::nullopt,
            QStringLiteral("first-use cost: the in-place time counts"));
    if (study.sizes.empty())
        for (const Knot& knot : study.table.samples.knots) {
            StudiedSize size;
            size.low = knot.low;
            size.high = knot.high;
            add(knot.size, knot.time, &size, knot.time, worth_of(study));
            for (const int column : {measured_column, launches_column, bandwidth_column})
                out.rows.back()[column].clear(); // nobody measured it here
        }
    return out;
}

QStringList facts_of(const CurveStudy& study)
{
    QStringList out;
    const CurveErrors& errors = study.table.errors;
    QStringList parts;
    if (const std::optional<double> error = median_error(study))
        parts << QStringLiteral("error at sizes left out %1 in the median, %2 on average")
                     .arg(percent(*error, "%.1f %%"), percent(study.left_out.mean(), "%.1f %%"));
    else if (errors.leave_one_out)
        parts << QStringLiteral("error at sizes left out %1 on average")
                     .arg(percent(*errors.leave_one_out, "%.1f %%"));
    if (errors.held_out_launch)
        parts << QStringLiteral("launches left out %1")
                     .arg(percent(*errors.held_out_launch, "%.1f %%"));
    if (!study.sizes.empty())
        parts << QStringLiteral("%1 sizes, %2 excluded")
                     .arg(study.sizes.size())
                     .arg(std::count_if(study.sizes.begin(), study.sizes.end(),
                                        [](const StudiedSize& one) { return one.excluded; }));
    if (!parts.isEmpty())
        out << parts.join(QStringLiteral("; "));
    QStringList lines;
    for (const AlphaBetaLine& line : study.table.lines)
        lines << line_text(line);
    if (!lines.isEmpty())
        out << QStringLiteral("compact form: the least of %1").arg(lines.join(", "));
    if (!study.table.source.empty())
        out << QStringLiteral("%1: %2").arg(text_of(to_name(study.table.grade)),
                                            text_of(study.table.source));
    for (const std::string& flag : study.flags)
        out << text_of(flag);
    return out;
}

} // namespace trainyard::gui
