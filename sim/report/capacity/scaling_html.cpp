#include "sim/base/units.h"
#include "sim/report/capacity/scaling_report.h"
#include "sim/report/capacity/smallest_fit.h"
#include "sim/report/html/bar_chart.h"
#include "sim/report/html/html_table.h"
#include "sim/report/html/page.h"
#include "sim/report/html/svg.h"
#include "sim/report/html/xy_chart.h"

#include <fmt/core.h>

namespace trainyard {

namespace {

std::string factor_text(double value)
{
    return fmt::format("{:.4g} x", value);
}

ChartAxis gpus()
{
    return {"GPUs", AxisScale::octaves, [](double value) { return fmt::format("{:g}", value); }};
}

template <class Value>
ChartSeries series_of(std::string title, std::size_t number, ChartJoin join,
                      const ScalingRows& curve, Value value)
{
    ChartSeries series{std::move(title), number, join, join == ChartJoin::line, {}};
    for (std::size_t i = 0; i < curve.rows.size(); ++i) {
        const ScalingRow& row = curve.rows[i];
        ChartPoint point{1.0 * row.gpus, value(row), "",
                         fmt::format("{}, {}: {}", gpus_text(row.gpus), row.layout,
                                     to_display(row.figures.step_time.value))};
        if (series.marked && curve.pays_up_to == i && i + 1 < curve.rows.size()) {
            point.ringed = true;
            point.label = fmt::format("pays up to {}", row.gpus);
        }
        series.points.push_back(std::move(point));
    }
    return series;
}

std::string speedup_chart(const ScalingRows& curve)
{
    const double first = curve.rows.front().gpus;
    XyChart chart{"speedup over GPUs",
                  gpus(),
                  {"work per second, smallest = 1", AxisScale::log, factor_text},
                  {},
                  {}};
    chart.series.push_back(series_of("ideal", 6, ChartJoin::dashes, curve,
                                     [&](const auto& row) { return row.gpus / first; }));
    chart.series.push_back(series_of("what communication leaves", 1, ChartJoin::dashes, curve,
                                     [](const auto& row) { return row.communication; }));
    if (curve.law)
        chart.series.push_back(series_of("Amdahl's law, fitted", 2, ChartJoin::dashes, curve,
                                         [](const auto& row) { return *row.amdahl; }));
    chart.series.push_back(series_of("the best layout of each size", 0, ChartJoin::line, curve,
                                     [](const auto& row) { return row.speedup; }));
    return xy_figure(chart);
}

std::string efficiency_chart(const ScalingReport& report)
{
    const auto efficiency = [](const ScalingRow& row) { return 100 * row.efficiency; };
    const XyChart chart{
        "efficiency over GPUs",
        gpus(),
        {"efficiency (% of the smallest's pace per GPU)", AxisScale::from_zero,
         [](double value) { return fmt::format("{:g} %", value); }},
        {series_of("one batch on all sizes (strong)", 0, ChartJoin::line, report.strong,
                   efficiency),
         series_of("a batch in proportion (weak)", 3, ChartJoin::line, report.weak, efficiency)},
        {}};
    return xy_figure(chart);
}

// What a sequence takes of all GPUs: flat where a cluster scales.
std::string sequence_bars(const ScalingRows& curve)
{
    std::vector<StepBar> bars;
    for (const ScalingRow& row : curve.rows) {
        StepBar bar{gpus_text(row.gpus), row.figures.mean, ""};
        Seconds sum;
        for (Seconds& part : bar.shares) {
            part *= 1.0 * row.gpus / static_cast<double>(row.global_batch);
            sum += part;
        }
        bar.value = to_display(sum);
        bars.push_back(std::move(bar));
    }
    return step_bars_figure("GPU seconds of a sequence", bars);
}

std::string curve_html(std::string_view title, const ScalingRows& curve)
{
    const TableCells table = scaling_table(curve);
    const std::string charts =
        curve.is_curve()
            ? speedup_chart(curve) +
                  "<p class=\"sub\">GPU seconds of a sequence, mean of all ranks:</p>\n" +
                  sequence_bars(curve)
            : "";
    return fmt::format("<h3>{}</h3>\n", title) + charts +
           table_html(table, {1, table.heads.size() - 1});
}

} // namespace

std::string scaling_html(const ScalingReport& report)
{
    std::string body;
    for (const std::string& verdict : scaling_verdicts(report))
        body += fmt::format("<p>{}</p>\n", escaped(verdict));
    if (!report.strong.rows.empty())
        body += curve_html("One batch on all sizes (strong)", report.strong);
    if (report.strong.is_curve())
        body += curve_html("A batch in proportion (weak)", report.weak) + "<h3>Efficiency</h3>\n" +
                efficiency_chart(report);
    return section(fmt::format("Scaling on {}", escaped(report.cluster)), body);
}

} // namespace trainyard
