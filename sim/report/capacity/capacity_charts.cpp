#include "sim/report/capacity/capacity_charts.h"

#include "sim/base/units.h"
#include "sim/report/figures.h"
#include "sim/report/html/xy_chart.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

namespace trainyard {

namespace {

constexpr double day = 86400; // s

std::string number_text(double value)
{
    return value < 10'000 ? fmt::format("{:.4g}", value) : to_display_count(value);
}

std::string percent_tick(double value)
{
    return fmt::format("{:.4g} %", value);
}

ChartAxis gpu_axis()
{
    return {"GPUs", AxisScale::octaves, [](double value) { return fmt::format("{:.0f}", value); }};
}

// A series of each kind, of what `value` knows of its sizes.
template <class Value>
std::vector<ChartSeries> series_of(const CapacityReport& report, Value value)
{
    std::vector<ChartSeries> out;
    for (std::size_t kind = 0; kind < report.clusters.size(); ++kind) {
        ChartSeries series{"", kind, ChartJoin::line, true, {}};
        for (const CapacityRow& row : report.clusters[kind]) {
            if (!row.training)
                continue;
            const std::optional<ChartPoint> point = value(row);
            if (!point)
                continue;
            series.title = row.cluster;
            series.points.push_back(*point);
            series.points.back().x = row.gpus;
            series.points.back().ringed = row.chosen;
            if (row.chosen)
                series.points.back().label = gpus_text(row.gpus);
        }
        if (!series.points.empty())
            out.push_back(std::move(series));
    }
    return out;
}

std::string tip_of(const CapacityRow& row)
{
    const WholeTraining& training = *row.training;
    return fmt::format("{} x {}, {}: {}{}", row.gpus, row.cluster, row.layout,
                       wall_text(training.time.mean()),
                       training.cost.money ? ", " + paid_text(training) : "");
}

// A value of a front's axis, as charts count it.
std::optional<double> value_of(Objective objective, const CapacityRow& row)
{
    if (!row.training || !row.figures)
        return std::nullopt;
    const WholeTraining& training = *row.training;
    switch (objective) {
    case Objective::days:
        return training.time.mean().value() / day;
    case Objective::cost:
        return training.cost.money;
    case Objective::gpus:
        return row.gpus;
    case Objective::energy:
        return training.cost.energy_kwh ? std::optional(*training.cost.energy_kwh / 1000)
                                        : std::nullopt;
    case Objective::work:
        return training.request.tokens;
    case Objective::headroom:
        return row.figures->capacity > Bytes(0)
                   ? std::optional(100 * (1 - row.figures->peak_memory / row.figures->capacity))
                   : std::nullopt;
    }
    return std::nullopt;
}

ChartAxis axis_of(Objective objective, const CapacityReport& report)
{
    switch (objective) {
    case Objective::days:
        return {"wall time (days)", AxisScale::log, number_text};
    case Objective::cost:
        return {"cost (currency of the prices)", AxisScale::log, money_text};
    case Objective::gpus:
        return gpu_axis();
    case Objective::energy:
        return {"energy (MWh)", AxisScale::log, number_text};
    case Objective::work:
        return {report.unit + " learned", AxisScale::log, to_display_count};
    case Objective::headroom:
        break;
    }
    return {"memory left (% of a device)", AxisScale::from_zero, percent_tick};
}

// With the goal as a line, where it is about that.
void add_goal(XyChart& chart, ChartLimit::Of of, Objective objective, const CapacityReport& report)
{
    if (objective == Objective::days && report.deadline)
        chart.limits.push_back({of, report.deadline->value() / day,
                                fmt::format("deadline {}", wall_text(*report.deadline))});
    if (objective == Objective::cost && report.budget)
        chart.limits.push_back(
            {of, *report.budget, fmt::format("budget {}", money_text(*report.budget))});
}

double most_of(Objective objective, const CapacityReport& report)
{
    double most = 0;
    for (const std::vector<CapacityRow>& rows : report.clusters)
        for (const CapacityRow& row : rows)
            most = std::max(most, value_of(objective, row).value_or(0));
    return most;
}

} // namespace

std::string wall_time_chart(const CapacityReport& report)
{
    XyChart chart{"wall time over GPUs", gpu_axis(), axis_of(Objective::days, report), {}, {}};
    chart.series = series_of(report, [](const CapacityRow& row) {
        const WholeTraining& training = *row.training;
        ChartPoint point{0, training.time.mean().value() / day, "", tip_of(row)};
        point.low = training.wall.low.value() / day;
        point.high = training.wall.high.value() / day;
        return std::optional(point);
    });
    add_goal(chart, ChartLimit::Of::y, Objective::days, report);
    return xy_figure(chart);
}

std::string cost_chart(const CapacityReport& report)
{
    XyChart chart{"cost over GPUs", gpu_axis(), axis_of(Objective::cost, report), {}, {}};
    chart.series = series_of(report, [](const CapacityRow& row) {
        const std::optional<double>& money = row.training->cost.money;
        return money ? std::optional(ChartPoint{0, *money, "", tip_of(row)}) : std::nullopt;
    });
    add_goal(chart, ChartLimit::Of::y, Objective::cost, report);
    return xy_figure(chart);
}

std::string goodput_chart(const CapacityReport& report)
{
    XyChart chart{
        "goodput over GPUs",
        gpu_axis(),
        {"goodput (% of wall time)", AxisScale::linear, percent_tick, 100.0},
        series_of(
            report,
            [](const CapacityRow& row) {
                return std::optional(ChartPoint{0, 100 * row.training->goodput(), "", tip_of(row)});
            }),
        {}};
    return xy_figure(chart);
}

std::string efficiency_chart(const CapacityReport& report)
{
    XyChart chart{"efficiency over GPUs",
                  gpu_axis(),
                  {"per GPU (% of the smallest's)", AxisScale::linear, percent_tick},
                  series_of(report,
                            [](const CapacityRow& row) {
                                return row.scaling ? std::optional(ChartPoint{0, 100 * *row.scaling,
                                                                              "", tip_of(row)})
                                                   : std::nullopt;
                            }),
                  {}};
    return xy_figure(chart);
}

std::string front_chart(const CapacityReport& report)
{
    if (report.front.size() < 2)
        return "";
    const Objective along = report.front[0];
    const Objective up = report.front[1];
    XyChart chart{"the front", axis_of(along, report), axis_of(up, report), {}, {}};
    const double most = report.front.size() > 2 ? most_of(report.front[2], report) : 0;
    ChartSeries front{"Pareto front", report.clusters.size(), ChartJoin::dashes, false, {}};
    for (std::size_t kind = 0; kind < report.clusters.size(); ++kind) {
        ChartSeries series{"", kind, ChartJoin::none, true, {}};
        for (const CapacityRow& row : report.clusters[kind]) {
            const std::optional<double> x = value_of(along, row);
            const std::optional<double> y = value_of(up, row);
            if (!x || !y)
                continue;
            ChartPoint point{*x, *y, "", tip_of(row)};
            if (most > 0) // an area
                point.radius = 3 + 7 * std::sqrt(value_of(report.front[2], row).value_or(0) / most);
            point.ringed = row.chosen;
            if (row.on_front) {
                point.label = fmt::format("{}", row.gpus);
                front.points.push_back({*x, *y});
            }
            series.title = row.cluster;
            series.points.push_back(std::move(point));
        }
        if (!series.points.empty())
            chart.series.push_back(std::move(series));
    }
    std::ranges::sort(front.points, {}, &ChartPoint::x);
    if (report.front.size() == 2)
        chart.series.push_back(std::move(front));
    add_goal(chart, ChartLimit::Of::x, along, report);
    add_goal(chart, ChartLimit::Of::y, up, report);
    const std::string area =
        most > 0 ? fmt::format("<p class=\"sub\">Area of a mark: {}, {} at most. Numbers are GPUs "
                               "of sizes on the front.</p>\n",
                               axis_of(report.front[2], report).title,
                               axis_of(report.front[2], report).text(most))
                 : "<p class=\"sub\">Numbers are GPUs of sizes on the front.</p>\n";
    return area + xy_figure(chart);
}

} // namespace trainyard
