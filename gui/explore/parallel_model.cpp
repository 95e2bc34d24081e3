#include "gui/explore/parallel_model.h"

#include <algorithm>
#include <cmath>

namespace trainyard::gui {

namespace {

constexpr double axis_margin = 0.03; // of an axis, above and below its figures
// Points of one value of a field lie this far apart, of the room that a value has.
constexpr double value_spread = 0.3;

} // namespace

bool ParallelAxis::logarithmic() const
{
    constexpr double much = 30;
    return !metric.axis && low > 0 && high > much * low;
}

double ParallelAxis::place(double value) const
{
    if (!known || std::isnan(value))
        return no_number;
    double at = 0.5;
    if (high > low)
        at = logarithmic() ? std::log(value / low) / std::log(high / low)
                           : (value - low) / (high - low);
    if (!metric.axis)
        at = axis_margin + (1 - 2 * axis_margin) * at;
    return flipped ? 1 - at : at;
}

double ParallelAxis::value(double place) const
{
    double at = flipped ? 1 - place : place;
    if (!metric.axis)
        at = (at - axis_margin) / (1 - 2 * axis_margin);
    return logarithmic() ? low * std::pow(high / low, at) : low + at * (high - low);
}

std::vector<QString> ParallelModel::usual_axes() const
{
    std::vector<QString> out;
    for (const Metric& metric : metrics_)
        if (metric.axis)
            out.push_back(metric.key);
    for (const char* key : {"devices", "step_time", "memory", "mfu", "rate"}) {
        const Metric* const metric = find_metric(metrics_, QString::fromLatin1(key));
        // Devices only where they differ.
        const auto nodes = [](const Metric& one) {
            return one.axis && one.key.startsWith(QStringLiteral("topology"));
        };
        if (metric != nullptr && (metric->key != "devices" || std::ranges::any_of(metrics_, nodes)))
            out.push_back(metric->key);
    }
    return out;
}

std::vector<QString> ParallelModel::keys() const
{
    std::vector<QString> out;
    for (const ParallelAxis& axis : axes_)
        out.push_back(axis.metric.key);
    out.insert(out.end(), hidden_.begin(), hidden_.end());
    return out;
}

void ParallelModel::restart(std::vector<Metric> metrics)
{
    const auto fields = [](const std::vector<Metric>& of) {
        std::vector<QString> keys;
        for (const Metric& metric : of)
            if (metric.axis)
                keys.push_back(metric.key);
        return keys;
    };
    if (fields(metrics) != fields(metrics_))
        brushes_.clear();
    metrics_ = std::move(metrics);
    make_axes();
}

void ParallelModel::set_choice(ParallelChoice choice)
{
    choice_ = std::move(choice);
    make_axes();
}

// Of a point that can be. Before there is one, all have.
bool ParallelModel::has_values(const Metric& metric, std::uint32_t from) const
{
    if (metric.axis || store_.feasible_count() == 0)
        return true;
    for (std::uint32_t point = from; point < store_.size(); ++point)
        if (store_.feasible(point) && !std::isnan(value_of(store_, point, metric)))
            return true;
    return false;
}

void ParallelModel::make_axes()
{
    axes_.clear();
    hidden_.clear();
    // What another sweep had is not always there.
    const auto known = std::ranges::count_if(
        choice_.axes, [this](const QString& key) { return find_metric(metrics_, key) != nullptr; });
    for (const QString& key : known < 2 ? usual_axes() : choice_.axes)
        if (const Metric* const metric = find_metric(metrics_, key)) {
            if (!has_values(*metric, 0)) {
                hidden_.push_back(key);
                continue;
            }
            ParallelAxis axis{*metric};
            axis.flipped = std::ranges::find(choice_.flipped, key) != choice_.flipped.end();
            if (metric->axis) {
                axis.low = -0.5;
                axis.high =
                    static_cast<double>(store_.grid().axes[*metric->axis].values.size()) - 0.5;
                axis.known = true;
            }
            axes_.push_back(std::move(axis));
        }
    std::erase_if(brushes_, [&](const auto& one) {
        return std::ranges::none_of(
            axes_, [&](const ParallelAxis& axis) { return axis.metric.key == one.first; });
    });
    places_.assign(axes_.size(), {});
    followed_ = 0;
    follow();
}

void ParallelModel::show_axis(const QString& key, bool shown)
{
    choice_.axes = keys();
    const auto at = std::ranges::find(choice_.axes, key);
    if (shown && at == choice_.axes.end())
        choice_.axes.push_back(key);
    // Fewer than two say nothing.
    if (!shown && at != choice_.axes.end() && choice_.axes.size() > 2)
        choice_.axes.erase(at);
    make_axes();
}

void ParallelModel::move_axis(std::size_t axis, int by)
{
    choice_.axes = keys();
    const auto to = static_cast<std::ptrdiff_t>(axis) + by;
    if (axis >= choice_.axes.size() || to < 0 ||
        to >= static_cast<std::ptrdiff_t>(choice_.axes.size()) || by == 0)
        return;
    const QString key = choice_.axes[axis];
    choice_.axes.erase(choice_.axes.begin() + static_cast<std::ptrdiff_t>(axis));
    choice_.axes.insert(choice_.axes.begin() + to, key);
    make_axes();
}

void ParallelModel::flip_axis(std::size_t axis)
{
    const QString key = axes_[axis].metric.key;
    if (std::erase(choice_.flipped, key) == 0)
        choice_.flipped.push_back(key);
    make_axes();
}

bool ParallelModel::follow()
{
    const std::uint32_t first = followed_;
    const auto came = [&](const Metric& metric) { return has_values(metric, first); };
    if (store_.size() > first &&
        (std::ranges::any_of(
             axes_, [&](const ParallelAxis& axis) { return !axis.known && !came(axis.metric); }) ||
         std::ranges::any_of(
             hidden_, [&](const QString& key) { return came(*find_metric(metrics_, key)); })))
    {
        make_axes();
        return true;
    }
    bool further = false;
    for (ParallelAxis& axis : axes_) {
        if (axis.metric.axis)
            continue;
        for (std::uint32_t point = first; point < store_.size(); ++point) {
            const double value =
                store_.feasible(point) ? value_of(store_, point, axis.metric) : no_number;
            if (std::isnan(value))
                continue;
            if (axis.known && value >= axis.low && value <= axis.high)
                continue;
            axis.low = axis.known ? std::min(axis.low, value) : value;
            axis.high = axis.known ? std::max(axis.high, value) : value;
            axis.known = true;
            further = true;
        }
    }
    followed_ = store_.size();
    fill_places(further ? 0 : first);
    return further && first > 0;
}

void ParallelModel::fill_places(std::uint32_t from)
{
    for (std::size_t i = 0; i < axes_.size(); ++i) {
        ParallelAxis& axis = axes_[i];
        places_[i].resize(followed_);
        for (std::uint32_t point = from; point < followed_; ++point) {
            double value =
                store_.feasible(point) ? value_of(store_, point, axis.metric) : no_number;
            if (axis.metric.axis)
                value += value_spread * jitter(store_, point, 11 + i);
            const bool lacks = store_.feasible(point) && std::isnan(value);
            axis.lacking = axis.lacking || lacks;
            places_[i][point] = lacks ? 0.F : static_cast<float>(axis.place(value));
        }
    }
}

float ParallelModel::place(std::size_t axis, std::uint32_t point) const
{
    if (point < followed_)
        return places_[axis][point];
    const ParallelAxis& of = axes_[axis];
    return store_.has(point) ? static_cast<float>(std::clamp(
                                   of.place(value_of(store_, point, of.metric)), -0.02, 1.02))
                             : static_cast<float>(no_number);
}

const Brush* ParallelModel::brush(std::size_t axis) const
{
    const auto at = brushes_.find(axes_[axis].metric.key);
    return at == brushes_.end() ? nullptr : &at->second;
}

void ParallelModel::set_brush(std::size_t axis, std::optional<Brush> brush)
{
    if (brush)
        brushes_[axes_[axis].metric.key] = *brush;
    else
        brushes_.erase(axes_[axis].metric.key);
}

std::vector<std::uint32_t> ParallelModel::within_brushes() const
{
    std::vector<std::pair<const Metric*, Brush>> wanted;
    for (std::size_t i = 0; i < axes_.size(); ++i)
        if (const Brush* const one = brush(i))
            wanted.emplace_back(&axes_[i].metric, *one);
    std::vector<std::uint32_t> out;
    for (std::uint32_t point = 0; point < followed_; ++point)
        if (store_.feasible(point) && std::ranges::all_of(wanted, [&](const auto& one) {
                return one.second.holds(value_of(store_, point, *one.first));
            }))
            out.push_back(point);
    return out;
}

std::optional<Brush> ParallelModel::brush_at(std::size_t axis, std::uint32_t point) const
{
    const Metric& metric = axes_[axis].metric;
    const double value = value_of(store_, point, metric);
    if (std::isnan(value))
        return {};
    if (metric.axis || metric.better == Better::neither)
        return Brush{value, value};
    constexpr double all = std::numeric_limits<double>::infinity();
    return metric.better == Better::lower ? Brush{-all, value} : Brush{value, all};
}

std::optional<std::uint32_t> ParallelModel::neighbour(std::size_t axis, std::uint32_t point,
                                                      int by) const
{
    // Below the axis, or above it.
    const float from = point < followed_ ? place(axis, point) : (by > 0 ? -1.F : 2.F);
    std::optional<std::uint32_t> best;
    // Equal places are told apart by number.
    const auto key = [&](std::uint32_t of) {
        const float at = places_[axis][of];
        return by > 0 ? std::pair(at, of) : std::pair(-at, of);
    };
    const std::pair start(by > 0 ? from : -from, point);
    for (std::uint32_t other = 0; other < followed_; ++other)
        if (!std::isnan(places_[axis][other]) && other != point && key(other) > start &&
            (!best || key(other) < key(*best)))
            best = other;
    return best;
}

} // namespace trainyard::gui
