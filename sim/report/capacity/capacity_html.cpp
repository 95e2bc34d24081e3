#include "sim/report/capacity/capacity_html.h"

#include "sim/base/build_info.h"
#include "sim/base/units.h"
#include "sim/report/capacity/capacity_charts.h"
#include "sim/report/figures.h"
#include "sim/report/html/bar_chart.h"
#include "sim/report/html/html_table.h"
#include "sim/report/html/page.h"
#include "sim/report/html/svg.h"
#include "sim/report/kinds.h"
#include "sim/report/training/training_html.h"

#include <fmt/core.h>

namespace trainyard {

namespace {

std::vector<Card> cards(const CapacityReport& report)
{
    const CapacityRow& best = *report.chosen_of(*report.best);
    const WholeTraining& training = *best.training;
    const StepFigures& step = *best.figures;
    std::vector<Card> out{{"Best cluster", fmt::format("{} x {}", best.gpus, best.cluster),
                           best.layout, "", "card wide"}};
    out.push_back({"Wall time", wall_text(training.time.mean()),
                   fmt::format("{} to {} (90 %)", wall_text(training.wall.low),
                               wall_text(training.wall.high))});
    const int spares = training.process.spare_nodes;
    if (training.cost.money)
        out.push_back({"Cost", money_text(*training.cost.money),
                       fmt::format("{} GPU hours{}", to_display_count(training.cost.gpu_hours),
                                   spares > 0 ? ", with " + spares_text(spares) : "")});
    out.push_back({"Goodput", percent(training.goodput()),
                   fmt::format("steps of {} alone take {}", to_display(step.step_time.value),
                               wall_text(training.process.steps))});
    out.push_back({"Throughput",
                   fmt::format("{} {}/s", to_display_count(step.work_per_s()), report.unit),
                   fmt::format("MFU {}", percent(step.mfu))});
    if (step.capacity > Bytes(0))
        out.push_back({"Memory left", percent(1 - step.peak_memory / step.capacity),
                       fmt::format("{} of {} a {}", to_display(step.capacity - step.peak_memory),
                                   to_display(step.capacity), step.device_word())});
    if (training.cost.energy_kwh)
        out.push_back({"Energy", kwh_text(*training.cost.energy_kwh),
                       "mean power " + watts_text(*training.cost.mean_watts)});
    return out;
}

std::string paragraphs(const std::vector<std::string>& texts)
{
    std::string out;
    for (const std::string& text : texts)
        out += fmt::format("<p>{}</p>\n", escaped(text));
    return out;
}

// What the steps of the answers, or of what comes nearest to one, spend their time on.
std::string what_binds(const CapacityReport& report)
{
    std::vector<StepBar> bars;
    std::string losses;
    for (std::size_t kind = 0; kind < report.clusters.size(); ++kind) {
        const CapacityRow* const row = report.told_of(kind);
        if (row == nullptr)
            continue;
        StepBar bar{fmt::format("{} x {}", row->gpus, row->cluster), {}, ""};
        const double step = sum_of(row->figures->mean).value();
        for (std::size_t i = 0; i < bar.shares.size() && step > 0; ++i)
            bar.shares[i] = row->figures->mean[i] / step;
        bars.push_back(std::move(bar));
        losses +=
            fmt::format("<li>{} x {}: bound by {}; apart from kernels most goes to {}.</li>\n",
                        row->gpus, escaped(row->cluster), to_name(row->figures->bottleneck.kind),
                        noun_of(largest_loss(row->figures->mean)));
    }
    return bars.empty() ? ""
                        : "<p class=\"sub\">Shares of a step, mean of all ranks.</p>\n" +
                              step_bars_figure("where the time of a step goes", bars) + "<ul>\n" +
                              losses + "</ul>\n";
}

std::string titled(std::string_view title, const std::string& figure)
{
    return figure.empty() ? "" : fmt::format("<h3>{}</h3>\n{}", title, figure);
}

std::string table_of(const TableCells& cells)
{
    return cells.rows.empty() ? "" : table_html(cells, word_columns(cells));
}

// Sizes of all kinds on which the training ends.
std::size_t runs_on(const CapacityReport& report)
{
    std::size_t out = 0;
    for (const std::vector<CapacityRow>& rows : report.clusters)
        for (const CapacityRow& row : rows)
            out += row.training ? 1U : 0U;
    return out;
}

// One size alone is no curve.
std::string over_gpus(const CapacityReport& report)
{
    return section("Over the number of GPUs",
                   titled("Wall time", wall_time_chart(report)) +
                       titled("Cost", cost_chart(report)) +
                       titled("Goodput", goodput_chart(report)) +
                       titled("Work per second and GPU, against the smallest that runs",
                              efficiency_chart(report))) +
           section("What is worth a choice",
                   report.front.empty() ? ""
                                        : front_chart(report) + paragraphs({front_text(report)}));
}

std::string body_of(const CapacityReport& report)
{
    std::string beside_goal;
    for (const ScalingReport& one : report.scaling)
        beside_goal += scaling_html(one);
    for (const GuideReport& guide : report.guides)
        beside_goal += guide_html(guide);
    if (report.clusters.empty())
        return beside_goal;
    std::string out;
    if (report.best)
        out += cards_html(cards(report));
    out += section("The answer",
                   table_of(answers_table(report)) + paragraphs(capacity_verdicts(report)));
    if (runs_on(report) > 1)
        out += over_gpus(report);
    out += section("What binds", what_binds(report)) + beside_goal;
    if (report.training)
        out += training_html(*report.training);
    out += section("Sizes looked at",
                   table_of(sizes_table(report)) + paragraphs({searched_text(report)}));
    return out + section("Chosen for the best", list_html(report.reasons));
}

} // namespace

std::string capacity_html(const CapacityReport& report)
{
    const std::string& model = report.model;
    const std::string footer = fmt::format("trainyard {}", version());
    if (report.clusters.empty())
        return html_page({report.scaling.empty() ? fmt::format("{}: which strategy", model)
                                                 : fmt::format("{}: how it scales", model),
                          "", body_of(report), footer});
    return html_page(
        {fmt::format("{}: {}", model, report.goal),
         fmt::format("{} layouts, {} simulated",
                     to_display_count(static_cast<double>(report.points)), report.simulated),
         body_of(report), footer});
}

} // namespace trainyard
