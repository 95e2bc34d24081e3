// A capacity plan in words.

#include "sim/base/units.h"
#include "sim/report/capacity/capacity_report.h"
#include "sim/report/figures.h"
#include "sim/report/kinds.h"
#include "sim/report/text/table.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

namespace trainyard {

namespace {

std::string days_text(const WholeTraining& training)
{
    return fmt::format("{} ({} to {})", wall_text(training.time.mean()),
                       wall_text(training.wall.low), wall_text(training.wall.high));
}

std::string energy_text(const WholeTraining& training)
{
    return training.cost.energy_kwh ? kwh_text(*training.cost.energy_kwh) : "";
}

std::string cost_text(const WholeTraining& training)
{
    return training.cost.money ? money_text(*training.cost.money) : "";
}

// Nodes that are paid beside those of the cluster.
std::string spares_cell(const WholeTraining& training)
{
    const int spares = training.process.spare_nodes;
    return spares > 0 ? fmt::format("{}", spares) : "";
}

// Requires that the table has the column.
void erase_column(TableCells& table, std::size_t column)
{
    const auto offset = static_cast<std::ptrdiff_t>(column);
    table.heads.erase(table.heads.begin() + offset);
    for (std::vector<std::string>& row : table.rows)
        row.erase(row.begin() + offset);
}

// Without the columns of which no row knows anything.
TableCells without_empty(TableCells table, const CapacityReport& report)
{
    for (const std::string_view head : {std::string_view("cost"), std::string_view("spare nodes"),
                                        std::string_view("energy"), std::string_view(report.unit)})
    {
        const auto place = std::ranges::find(table.heads, head);
        const auto column = static_cast<std::size_t>(place - table.heads.begin());
        const auto knows = [&](const std::vector<std::string>& row) {
            return !row[column].empty();
        };
        if (place != table.heads.end() && std::ranges::none_of(table.rows, knows))
            erase_column(table, column);
    }
    return table;
}

// What a step and a training of the row come to.
std::vector<std::string> figure_cells(const CapacityRow& row, const CapacityReport& report)
{
    const StepFigures& step = *row.figures;
    const WholeTraining& training = *row.training;
    std::vector<std::string> cells{to_display(step.step_time.value),
                                   to_display_count(training.request.batch_tokens),
                                   to_display_count(step.work_per_s()),
                                   figure_of("mfu").text(step.mfu),
                                   percent(step.peak_memory / step.capacity),
                                   std::string(fit_cell(step.memory_fit())),
                                   days_text(training),
                                   percent(training.goodput()),
                                   cost_text(training),
                                   spares_cell(training),
                                   energy_text(training)};
    if (!report.has_tokens)
        cells.push_back(to_display_count(training.request.tokens));
    return cells;
}

std::vector<std::string> figure_heads(const CapacityReport& report)
{
    std::vector<std::string> heads{"step",
                                   report.unit + " a step",
                                   report.unit + " per s",
                                   "MFU",
                                   "memory",
                                   "fits",
                                   "days (90 %)",
                                   "goodput",
                                   "cost",
                                   "spare nodes",
                                   "energy"};
    if (!report.has_tokens)
        heads.emplace_back(report.unit);
    return heads;
}

// The number of GPUs is in bold of rows to be seen first.
std::string sizes_text(const CapacityReport& report, const Paint& paint, std::size_t width)
{
    TableCells cells = sizes_table(report);
    for (const std::string_view head : {"batch", "goodput"}) // a terminal has no room for them
        erase_column(cells, static_cast<std::size_t>(std::ranges::find(cells.heads, head) -
                                                     cells.heads.begin()));
    std::vector<Align> aligns(cells.heads.size(), Align::right);
    for (const std::size_t column : word_columns(cells))
        if (!cells.heads[column].empty()) // what is missed stands at the edge
            aligns[column] = Align::left;
    for (const std::size_t row : cells.strong)
        cells.rows[row][1] = paint.bold(cells.rows[row][1]);
    return text_within(std::move(cells), aligns, paint, width);
}

// The smallest cluster of each kind in a column of its own, the best in bold.
std::string answers_text(const CapacityReport& report, const Paint& paint, std::size_t width)
{
    TableCells cells = answers_table(report);
    for (const std::size_t row : cells.strong)
        cells.rows[row].front() = paint.bold(cells.rows[row].front());
    TextTable table(std::vector<Align>(1 + cells.rows.size(), Align::left));
    for (std::size_t i = 0; i < cells.heads.size(); ++i) {
        std::vector<std::string> line{paint.dim(cells.heads[i])};
        for (std::vector<std::string>& row : cells.rows)
            line.push_back(std::move(row[i]));
        table.add(std::move(line));
    }
    return table.text_within(width);
}

std::string runs_nowhere(const CapacityReport& report, std::size_t kind)
{
    const CapacityRow& last = report.clusters[kind].back();
    std::string out = report.clusters[kind].size() == 1
                          ? fmt::format("{} x {}: no layout runs the training ({}).", last.gpus,
                                        last.cluster, last.refusal)
                          : fmt::format("{}: no size up to {} runs the training ({} there).",
                                        last.cluster, gpus_text(last.gpus), last.refusal);
    if (const std::optional<SmallestFit>& fit = report.smallest[kind])
        out += " " + smallest_text(*fit);
    return out;
}

// Where no size meets the goal: how near the nearest comes.
std::string out_of_reach(const CapacityReport& report, std::size_t kind)
{
    const std::vector<CapacityRow>& rows = report.clusters[kind];
    if (rows.empty())
        return "";
    const CapacityRow* const nearest = report.told_of(kind);
    if (nearest == nullptr)
        return runs_nowhere(report, kind);
    std::string out = fmt::format("{}: out of reach. {} {}", nearest->cluster,
                                  gpus_text(nearest->gpus), nearest->gpus == 1 ? "takes" : "take");
    out += " " + wall_text(nearest->training->time.mean());
    if (!nearest->misses.empty())
        out += fmt::format(", {}", fmt::join(nearest->misses, ", "));
    if (rows.size() > 1)
        out += "; no other size that was looked at comes nearer";
    return out +
           fmt::format(". There a step is bound by {}; apart from kernels most of it goes to {}.",
                       to_name(nearest->figures->bottleneck.kind),
                       noun_of(largest_loss(nearest->figures->mean)));
}

std::string cheaper_text(const CapacityRow& chosen, const CapacityRow& cheaper)
{
    return fmt::format("{} x {} are the fewest; {} cost less: {} in place of {}, in {}.",
                       chosen.gpus, chosen.cluster, cheaper.gpus, paid_text(*cheaper.training),
                       paid_text(*chosen.training), wall_text(cheaper.training->time.mean()));
}

// The smallest cluster of another kind, by what was asked for: days and cost, or what is learned.
std::string against_best(const CapacityReport& report, const CapacityRow& other)
{
    const WholeTraining& best = *report.chosen_of(*report.best)->training;
    const WholeTraining& training = *other.training;
    const std::string days = wall_text(training.time.mean());
    if (report.has_tokens) {
        std::string out = "takes " + days;
        if (best.cost.money && training.cost.money) {
            const double more = *training.cost.money / *best.cost.money - 1;
            out += fmt::format(" and costs {} {}", percent(std::abs(more)),
                               more < 0 ? "less" : "more");
        }
        return out;
    }
    const double tokens = training.request.tokens;
    return fmt::format("trains on {} {}, {} fewer, in {}{}", to_display_count(tokens), report.unit,
                       percent(1 - tokens / best.request.tokens), days,
                       training.cost.money ? " for " + paid_text(training) : "");
}

std::string summary_of(const CapacityReport& report)
{
    const CapacityRow& best = *report.chosen_of(*report.best);
    std::string out = fmt::format("Best: {} x {}, {}", best.gpus, best.cluster, best.layout);
    for (std::size_t kind = 0; kind < report.clusters.size(); ++kind)
        if (const CapacityRow* const other = report.chosen_of(kind);
            other != nullptr && kind != *report.best)
            out += fmt::format("; {} x {} {}", other->gpus, other->cluster,
                               against_best(report, *other));
    return out + ".";
}

// What the search of the size in progress left open.
std::string interrupted_text(const CapacityReport& report)
{
    std::string out = "Interrupted: other sizes were not looked at.";
    for (const std::vector<CapacityRow>& rows : report.clusters)
        for (const CapacityRow& row : rows)
            if (row.unproven && row.training)
                out += fmt::format(" The layout of {} x {} is the best so far, not proven the "
                                   "best: another may be up to {} quicker.",
                                   row.gpus, row.cluster, percent(*row.unproven));
    return out;
}

} // namespace

std::vector<std::size_t> word_columns(const TableCells& table)
{
    std::vector<std::size_t> out;
    for (std::size_t i = 0; i < table.heads.size(); ++i)
        for (const std::string_view head : {"cluster", "layout", ""})
            if (table.heads[i] == head)
                out.push_back(i);
    return out;
}

std::string_view title_of(Objective objective)
{
    switch (objective) {
    case Objective::days:
        return "days";
    case Objective::cost:
        return "cost";
    case Objective::gpus:
        return "GPUs";
    case Objective::energy:
        return "energy";
    case Objective::work:
        return "what is learned";
    case Objective::headroom:
        return "memory left";
    }
    return "";
}

std::string objectives_text(const std::vector<Objective>& objectives)
{
    std::string out;
    for (std::size_t i = 0; i < objectives.size(); ++i)
        out += fmt::format("{}{}",
                           i == 0                      ? ""
                           : i + 1 < objectives.size() ? ", "
                                                       : " and ",
                           title_of(objectives[i]));
    return out;
}

std::string front_text(const CapacityReport& report)
{
    std::vector<std::string> sizes;
    for (const std::vector<CapacityRow>& rows : report.clusters)
        for (const CapacityRow& row : rows)
            if (row.on_front)
                sizes.push_back(fmt::format("{} x {}", row.gpus, row.cluster));
    return fmt::format("Pareto front over {}: {}.", objectives_text(report.front),
                       fmt::join(sizes, ", "));
}

std::vector<std::string> capacity_verdicts(const CapacityReport& report)
{
    std::vector<std::string> out;
    if (report.best)
        out.push_back(summary_of(report));
    for (std::size_t kind = 0; kind < report.clusters.size(); ++kind)
        if (report.chosen_of(kind) == nullptr)
            out.push_back(out_of_reach(report, kind));
        else if (const CapacityRow* const cheaper = report.cheaper_of(kind))
            out.push_back(cheaper_text(*report.chosen_of(kind), *cheaper));
    if (!report.unpriced.empty())
        out.push_back(fmt::format("Costs are not compared: {}.", report.unpriced));
    if (report.interrupted)
        out.push_back(interrupted_text(report));
    return out;
}

std::string searched_text(const CapacityReport& report)
{
    const std::string layouts = to_display_count(static_cast<double>(report.points));
    const bool runs = std::ranges::any_of(report.clusters, [](const auto& rows) {
        return std::ranges::any_of(rows,
                                   [](const CapacityRow& row) { return row.training.has_value(); });
    });
    return runs
               ? fmt::format("Of {} layouts {} were simulated; none that leaves {:.4g} % of memory "
                             "is more than {:.4g} % quicker than the one shown of its size. Sizes "
                             "between those shown may do as well. per GPU: against the smallest "
                             "that runs.",
                             layouts, report.simulated, 100 * report.headroom,
                             100 * report.tolerance)
               : fmt::format("None of {} layouts runs and leaves {:.4g} % of memory.", layouts,
                             100 * report.headroom);
}

TableCells answers_table(const CapacityReport& report)
{
    TableCells table{{"cluster", "GPUs", "layout"}, {}};
    for (std::string& head : figure_heads(report))
        table.heads.push_back(std::move(head));
    for (std::size_t kind = 0; kind < report.clusters.size(); ++kind) {
        const CapacityRow* const row = report.chosen_of(kind);
        if (row == nullptr)
            continue;
        if (report.best == kind)
            table.strong.push_back(table.rows.size());
        std::vector<std::string>& cells = table.rows.emplace_back();
        cells = {row->cluster, fmt::format("{}", row->gpus), row->layout};
        for (std::string& cell : figure_cells(*row, report))
            cells.push_back(std::move(cell));
    }
    return without_empty(std::move(table), report);
}

TableCells sizes_table(const CapacityReport& report)
{
    TableCells table{{"cluster", "GPUs", "batch", "step", "MFU", "fits", "per GPU", "days",
                      "goodput", "cost", "spare nodes", report.unit, "layout", ""},
                     {}};
    for (const std::vector<CapacityRow>& rows : report.clusters)
        for (const CapacityRow& row : rows) {
            if (row.chosen)
                table.strong.push_back(table.rows.size());
            std::vector<std::string>& cells = table.rows.emplace_back();
            cells = {row.cluster, fmt::format("{}", row.gpus)};
            if (row.training) {
                const StepFigures& step = *row.figures;
                const WholeTraining& training = *row.training;
                const std::string tokens =
                    report.has_tokens ? "" : to_display_count(training.request.tokens);
                cells.insert(cells.end(),
                             {fmt::format("{}", row.global_batch), to_display(step.step_time.value),
                              figure_of("mfu").text(step.mfu),
                              std::string(fit_cell(step.memory_fit())), percent(*row.scaling),
                              wall_text(training.time.mean()), percent(training.goodput()),
                              cost_text(training), spares_cell(training), tokens, row.layout,
                              fmt::format("{}", fmt::join(row.misses, ", "))});
            } else {
                cells.insert(cells.end(), table.heads.size() - cells.size(), "");
                cells[cells.size() - 2] = row.refusal;
            }
        }
    return without_empty(std::move(table), report);
}

namespace {

std::string beside_the_goal(const CapacityReport& report, const Paint& paint, std::size_t width)
{
    std::string out;
    for (const ScalingReport& scaling : report.scaling)
        out += (out.empty() ? "" : "\n") + scaling_text(scaling, paint, width);
    for (const GuideReport& guide : report.guides)
        out += (out.empty() ? "" : "\n") + guide_text(guide, paint, width);
    return out;
}

} // namespace

std::string capacity_text(const CapacityReport& report, const Paint& paint, std::size_t width)
{
    if (report.clusters.empty())
        return beside_the_goal(report, paint, width);
    std::string out = fmt::format("{}: {}\n\n", report.model, report.goal);
    const auto say = [&](const std::string& text) {
        for (const std::string& line : wrapped(text, width))
            out += line + "\n";
    };
    if (report.best)
        out += answers_text(report, paint, width) + "\n";
    for (const std::string& verdict : capacity_verdicts(report))
        say(verdict);
    out += "\n" + paint.bold("Sizes looked at") + "\n" + sizes_text(report, paint, width) + "\n";
    if (!report.front.empty())
        say(front_text(report));
    if (!report.interrupted)
        say(searched_text(report));
    if (!report.scaling.empty() || !report.guides.empty())
        out += "\n" + beside_the_goal(report, paint, width);
    if (report.training)
        out += "\n" + training_text(*report.training, paint, width);
    if (!report.reasons.empty()) {
        out += "\n" + paint.bold("Chosen") + "\n";
        for (const std::string& reason : report.reasons)
            out += "  " + reason + "\n";
    }
    return out;
}

} // namespace trainyard
