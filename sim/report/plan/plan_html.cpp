#include "sim/report/plan/plan_html.h"

#include "sim/base/build_info.h"
#include "sim/base/units.h"
#include "sim/report/figures.h"
#include "sim/report/headline.h"
#include "sim/report/html/bar_chart.h"
#include "sim/report/html/html_table.h"
#include "sim/report/html/page.h"
#include "sim/report/html/svg.h"
#include "sim/report/html/xy_chart.h"
#include "sim/report/kinds.h"
#include "sim/report/network_notes.h"
#include "sim/report/plan/context_report.h"
#include "sim/report/training/training_html.h"

#include <fmt/core.h>

#include <algorithm>

namespace trainyard {

namespace {

// Of a device, on the fullest stage.
std::string left_text(const PlanRow& row)
{
    const std::string left =
        fmt::format("{} of {} a {}", to_display(row.capacity - row.peak_memory),
                    to_display(row.capacity), row.device_word());
    return row.peak.has_interval()
               ? fmt::format("{}; holds {}: {}", left, peak_interval_text(row.peak),
                             to_name(row.memory_fit()))
               : left;
}

std::vector<Card> cards(const PlanReport& report)
{
    const PlanRow& best = report.rows.front();
    const std::string settings = plan_settings(report);
    std::vector<Card> out{{"Best layout", best.layout,
                           settings.empty() ? "The scenario as it stands." : settings, "",
                           "card wide"}};
    for (const HeadlineRow& row : headline_rows(best))
        out.push_back(
            {std::string(row.name), row.value, row.note, row.verdict ? to_word(*row.verdict) : ""});
    if (knows_memory(report))
        out.push_back({"Memory left", percent(memory_left(best)), left_text(best)});
    const bool proven = report.search.gap() == 0;
    out.push_back({"Proof", proven ? "Nothing is quicker" : "Interrupted", proof_text(report),
                   proven ? "" : "alarm", "card wide"});
    return out;
}

std::string rows_table(const PlanReport& report, std::span<const PlanRow> rows)
{
    TableCells table = plan_table(report, rows);
    table.heads.insert(table.heads.begin(), "#");
    for (std::size_t i = 0; i < table.rows.size(); ++i)
        table.rows[i].insert(table.rows[i].begin(), fmt::format("{}", i + 1));
    return table_html(table, {table.heads.size() - 1});
}

// As many sequences as the best has.
StepBar bar_of(const PlanReport& report, const PlanRow& row, std::string name)
{
    StepBar bar{std::move(name), row.mean, to_display(row.step_time.value)};
    for (Seconds& part : bar.shares)
        part *= sequences_ratio(report.rows.front(), row);
    return bar;
}

std::string step_bars(const PlanReport& report)
{
    constexpr std::size_t most = 8;
    std::vector<StepBar> bars;
    for (std::size_t i = 0; i < std::min(most, report.rows.size()); ++i)
        bars.push_back(bar_of(report, report.rows[i], fmt::format("# {}", i + 1)));
    if (report.own)
        bars.push_back(bar_of(report, *report.own, "the scenario's"));
    return step_bars_figure("where the time of a step goes", bars);
}

ChartPoint point_of(const PlanRow& row, std::string label)
{
    return {100 * memory_left(row), row.work_per_s(), std::move(label),
            fmt::format("{}: {}, {} left", row.layout, to_display(row.step_time.value),
                        percent(memory_left(row))),
            5};
}

std::string time_and_memory(const PlanReport& report)
{
    if (!knows_memory(report))
        return "";
    const PlanRow& best = report.rows.front();
    XyChart chart;
    chart.label = "throughput against memory that is left";
    chart.x = {"memory left on the fullest stage (% of a device)", AxisScale::linear,
               [](double value) { return fmt::format("{:g} %", value); }};
    chart.y = {best.work() == WorkUnit::tokens ? "tokens/s" : "samples/s", AxisScale::linear,
               [](double value) { return to_display_count(value); }};
    ChartSeries shown{"the quickest of their sizes", 0, ChartJoin::none, true, {}};
    for (std::size_t i = 0; i < report.rows.size(); ++i)
        shown.points.push_back(point_of(report.rows[i], fmt::format("# {}", i + 1)));
    shown.points.front().ringed = true;
    if (!report.front.empty()) {
        ChartSeries front{"none is both quicker and smaller", 3, ChartJoin::steps, true, {}};
        for (const PlanRow& row : report.front)
            front.points.push_back(point_of(row, ""));
        std::ranges::sort(front.points, {}, &ChartPoint::x);
        chart.series.push_back(std::move(front));
    }
    chart.series.push_back(std::move(shown));
    if (report.own && report.own->gpus == report.devices)
        chart.series.push_back(
            {"the scenario's own", 1, ChartJoin::none, true, {point_of(*report.own, "")}});
    return xy_figure(chart);
}

std::string left_out_section(const PlanReport& report)
{
    std::vector<CountBar> bars;
    for (const LeftOut& one : left_out(report))
        bars.push_back({one.reason, one.points});
    std::ranges::stable_sort(bars, std::ranges::greater(), &CountBar::count);
    const std::string lead = fmt::format(
        "<p class=\"sub\">Layouts by why they are none of those shown; the scale is logarithmic. "
        "{} in all.</p>\n",
        grouped(report.search.points));
    return section("Left out", bars.empty() ? "" : lead + count_bars_figure("left out", bars));
}

std::string body_of(const PlanReport& report, const LongestContext* context)
{
    if (report.rows.empty())
        return fmt::format("<p class=\"alarm\">{}</p>\n", escaped(nothing_fits(report))) +
               left_out_section(report);
    std::vector<Card> facts = cards(report);
    if (context != nullptr)
        facts.insert(
            facts.begin(),
            {"Longest context",
             fmt::format("{} tokens", grouped(static_cast<std::uint64_t>(context->longest()))),
             context_proof(*context), "", "card wide"});
    std::string out = cards_html(facts);
    const auto paragraph = [](const std::string& text) {
        return text.empty() ? "" : fmt::format("<p>{}</p>\n", escaped(text));
    };
    out += section("The best layouts", rows_table(report, report.rows) +
                                           paragraph(runner_up_text(report)) +
                                           paragraph(own_text(report)));
    out += section("Where the time of a step goes", step_bars(report));
    out += section("Throughput against memory",
                   time_and_memory(report) +
                       (report.front.empty() ? ""
                                             : fmt::format("<h3>{}</h3>\n", front_title(report)) +
                                                   rows_table(report, telling_front(report))));
    out += left_out_section(report);
    if (context != nullptr)
        out += section("Lengths looked at", table_html(context_table(*context), {3}));
    if (report.training)
        out += training_html(*report.training);
    out += section("Assumptions",
                   list_html({fmt::format("Network fidelity {}: {}.", to_name(report.fidelity),
                                          fidelity_meaning(report.fidelity)),
                              fmt::format("Every layout leaves {:.4g} % of memory free.",
                                          100 * report.headroom)}));
    return out;
}

} // namespace

std::string plan_html(const PlanReport& report, const LongestContext* context)
{
    const std::string& title = report.title.empty() ? report.scenario : report.title;
    return html_page(
        {title,
         fmt::format("{} layouts on {} devices, {} with room for them, {} simulated",
                     grouped(report.search.points), report.devices, grouped(report.search.possible),
                     grouped(report.search.simulated)),
         body_of(report, context), fmt::format("trainyard {}; {}", version(), report.scenario)});
}

} // namespace trainyard
