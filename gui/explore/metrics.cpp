#include "gui/explore/metrics.h"

#include "gui/explore/ranges.h"
#include "gui/explore/sweep_plan.h"
#include "gui/explore/words.h"
#include "gui/model/qt_text.h"
#include "sim/base/random.h"

#include <algorithm>
#include <cmath>

namespace trainyard::gui {

namespace {

struct UnitShown {
    QString name;
    double scale = 1;
};

UnitShown unit_shown(FigureUnit unit, const Price& price)
{
    switch (unit) {
    case FigureUnit::seconds:
        return {QStringLiteral("s"), 1};
    case FigureUnit::share:
        return {QStringLiteral("%"), 100};
    case FigureUnit::bytes:
        return {QStringLiteral("GB"), 1e-9};
    case FigureUnit::money:
        return {price.currency, price.per_device_hour};
    default:
        return {};
    }
}

} // namespace

QString Metric::label() const
{
    return unit.isEmpty() ? title : QStringLiteral("%1 [%2]").arg(title, unit);
}

QString Metric::tip() const
{
    return figure == nullptr || figure->meaning.empty()
               ? key
               : QStringLiteral("%1: %2").arg(key, text_of(figure->meaning));
}

std::vector<Metric> metrics_of(const SweepGrid& grid, WorkUnit work, const Price& price)
{
    std::vector<Metric> out;
    for (std::size_t column = 0; column < kept_figures().size(); ++column) {
        const Figure& figure = *kept_figures()[column];
        const auto [unit, scale] = unit_shown(figure.unit, price);
        if (!figure.window.key.empty() && figure.counts_in(work) && scale > 0)
            out.push_back({&figure, column, scale, text_of(figure.window.key),
                           text_of(figure.window.name), capitalised(figure.title_for("device")),
                           unit, figure.better, std::nullopt});
    }
    for (std::size_t axis = 0; axis < grid.axes.size(); ++axis) {
        const std::string& field = grid.axes[axis].field;
        const QString name = short_name(field);
        out.push_back({nullptr, 0, 1, text_of(field), name, name, {}, Better::neither, axis});
    }
    return out;
}

double value_of(const PointStore& store, std::uint32_t point, const Metric& metric)
{
    return metric.axis ? store.place(point, *metric.axis)
                       : metric.scale * store.figure(point, metric.column);
}

double jitter(const PointStore& store, std::uint32_t point, std::uint64_t salt)
{
    return to_unit_interval(hash_key(salt, store.index(point))) - 0.5;
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

QString text_of(const PointStore& store, std::uint32_t point, const Metric& metric)
{
    if (metric.axis)
        return value_text(store.value_name(point, *metric.axis));
    const QString number = number_text(value_of(store, point, metric));
    // What does not fit is refused once that is sure: it may need more yet.
    const bool bound = metric.figure == &figure_of("peak_memory_bytes") &&
                       point != PointStore::guest && !store.feasible(point) && !number.isEmpty();
    return bound ? words("at least %1").arg(number) : number;
}

const Metric& best_metric(const std::vector<Metric>& metrics)
{
    const bool other_work = std::ranges::any_of(metrics, [](const Metric& one) {
        return one.key == "training.global_batch" || one.key == "training.sequence_length";
    });
    return *find_metric(metrics, other_work ? QStringLiteral("rate") : QStringLiteral("step_time"));
}

const Metric* find_metric(const std::vector<Metric>& metrics, const QString& key)
{
    const auto at = std::ranges::find(metrics, key, &Metric::key);
    return at == metrics.end() ? nullptr : &*at;
}

} // namespace trainyard::gui
