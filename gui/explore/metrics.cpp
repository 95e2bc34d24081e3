#include "gui/explore/metrics.h"

#include "gui/explore/ranges.h"
#include "gui/explore/sweep_plan.h"
#include "gui/explore/words.h"

#include <algorithm>
#include <cmath>

namespace trainyard::gui {

namespace {

constexpr double gigabyte = 1e9;
constexpr double hours_per_day = 24;
constexpr double seconds_per_hour = 3600;

} // namespace

QString Metric::label() const
{
    return unit.isEmpty() ? title : QStringLiteral("%1 [%2]").arg(title, unit);
}

std::vector<Metric> metrics_of(const SweepGrid& grid, WorkUnit work, const Price& price)
{
    const auto key = [](const char* text) { return QString::fromUtf8(text); };
    const bool tokens = work == WorkUnit::tokens;
    std::vector<Metric> out{
        {Measure::step_time,
         key("step_time"),
         key("step"),
         words("Step time"),
         key("s"),
         Better::lower,
         {}},
        {Measure::rate,
         key("rate"),
         tokens ? key("tokens") : key("samples"),
         tokens ? words("Tokens/s per device") : words("Samples/s per device"),
         {},
         Better::higher,
         {}},
        {Measure::mfu, key("mfu"), key("mfu"), words("MFU"), key("%"), Better::higher, {}},
        {Measure::memory,
         key("memory"),
         key("memory"),
         words("Peak memory"),
         key("GB"),
         Better::lower,
         {}},
        {Measure::exposed,
         key("exposed"),
         key("exposed"),
         words("Exposed communication"),
         key("%"),
         Better::lower,
         {}},
        {Measure::bubble,
         key("bubble"),
         key("bubble"),
         words("Bubble"),
         key("%"),
         Better::lower,
         {}},
        {Measure::devices, key("devices"), key("devices"), words("Devices"), {}, Better::lower, {}},
    };
    if (price.per_device_hour > 0) {
        out.push_back({Measure::cost_day,
                       key("cost_day"),
                       key("cost"),
                       words("Cost per day"),
                       price.currency,
                       Better::lower,
                       {}});
        out.push_back({Measure::cost_work,
                       key("cost_work"),
                       key("billion"),
                       tokens ? words("Cost per 10⁹ tokens") : words("Cost per 10⁹ samples"),
                       price.currency,
                       Better::lower,
                       {}});
    }
    for (std::size_t axis = 0; axis < grid.axes.size(); ++axis) {
        const std::string& field = grid.axes[axis].field;
        out.push_back({Measure::field,
                       QString::fromStdString(field),
                       short_name(field),
                       short_name(field),
                       {},
                       Better::neither,
                       axis});
    }
    return out;
}

double value_of(const PointStore& store, std::uint32_t point, const Metric& metric,
                const Price& price)
{
    const auto figure = [&](Figure which) { return store.figure(point, which); };
    switch (metric.measure) {
    case Measure::step_time:
        return figure(Figure::step_time);
    case Measure::rate:
        return figure(Figure::rate);
    case Measure::mfu:
        return 100 * figure(Figure::mfu);
    case Measure::memory:
        return figure(Figure::memory) / gigabyte;
    case Measure::exposed:
        return 100 * figure(Figure::exposed);
    case Measure::bubble:
        return 100 * figure(Figure::bubble);
    case Measure::devices:
        return figure(Figure::devices);
    case Measure::cost_day:
        return figure(Figure::devices) * hours_per_day * price.per_device_hour;
    case Measure::cost_work:
        return 1e9 * price.per_device_hour / (seconds_per_hour * figure(Figure::rate));
    case Measure::field:
        break;
    }
    return static_cast<double>(store.value(point, *metric.axis));
}

QString number_text(double value)
{
    if (std::isnan(value))
        return {};
    constexpr double kilo = 1000;
    if (std::abs(value) >= kilo * kilo)
        return QStringLiteral("%1 M").arg(QString::number(value / (kilo * kilo), 'g', 4));
    if (std::abs(value) >= 10 * kilo)
        return QStringLiteral("%1 k").arg(QString::number(value / kilo, 'g', 4));
    return QString::number(value, 'g', 4);
}

QString text_of(const PointStore& store, std::uint32_t point, const Metric& metric,
                const Price& price)
{
    if (metric.axis)
        return value_text(store.value_name(point, *metric.axis));
    return number_text(value_of(store, point, metric, price));
}

Measure best_measure(const std::vector<Metric>& metrics)
{
    const bool other_work = std::ranges::any_of(metrics, [](const Metric& one) {
        return one.key == "training.global_batch" || one.key == "training.sequence_length";
    });
    return other_work ? Measure::rate : Measure::step_time;
}

const Metric* find_metric(const std::vector<Metric>& metrics, const QString& key)
{
    const auto at = std::ranges::find(metrics, key, &Metric::key);
    return at == metrics.end() ? nullptr : &*at;
}

} // namespace trainyard::gui
