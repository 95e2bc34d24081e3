#include "sim/report/figures.h"
#include "sim/report/sweep/sweep_output.h"
#include "sim/report/text/paste.h"
#include "sim/report/text/table.h"

#include <fmt/core.h>

#include <algorithm>
#include <set>

namespace trainyard {
namespace {

constexpr std::size_t value_width = 32;

// The last name of each field, or all of it where that is not enough to tell axes apart.
std::vector<std::string> short_names(const SweepGrid& grid)
{
    std::vector<std::string> names;
    for (const SweepAxis& axis : grid.axes) {
        const std::string last = axis.field.substr(axis.field.rfind('.') + 1);
        const auto alike = std::ranges::count_if(grid.axes, [&](const SweepAxis& other) {
            return other.field.substr(other.field.rfind('.') + 1) == last;
        });
        names.push_back(alike > 1 ? axis.field : last);
    }
    return names;
}

// Of a path its end, of anything else its beginning.
std::string shown_value(const std::string& value)
{
    return value.find('/') != std::string::npos ? end_of(value, value_width)
                                                : shortened(value, value_width);
}

bool same_size(const std::vector<PointRow>& rows)
{
    return std::ranges::all_of(rows,
                               [&](const PointRow& row) { return row.gpus == rows.front().gpus; });
}

std::string best_table(const SweepGrid& grid, const SweepBest& best, const Paint& paint,
                       std::size_t width)
{
    const std::vector<PointRow>& rows = best.best();
    const bool tokens = rows.front().tokens_per_s > 0;
    const bool sizes = !same_size(rows);
    std::vector<std::string> head;
    for (const std::string& name : short_names(grid))
        head.push_back(paint.dim(name));
    std::vector<std::string_view> titles{
        "step time", tokens ? "tokens/s" : "samples/s", "per GPU", "MFU", "memory", "bottleneck"};
    if (sizes)
        titles.insert(titles.begin(), "GPUs");
    for (const std::string_view title : titles)
        head.push_back(paint.dim(title));
    std::vector<Align> aligns(head.size(), Align::right);
    aligns.back() = Align::left;
    TextTable table(aligns);
    table.add(std::move(head));
    for (const PointRow& row : rows) {
        std::vector<std::string> cells;
        for (const std::string& value : row.values)
            cells.push_back(shown_value(value));
        if (sizes)
            cells.push_back(fmt::format("{}", row.gpus));
        cells.insert(cells.end(),
                     {to_display(row.step_time.value), to_display_count(row.work_per_s()),
                      to_display_count(row.work_per_s() / row.gpus), percent(row.mfu),
                      percent(row.peak_memory / row.capacity),
                      std::string(to_name(row.bottleneck))});
        table.add(std::move(cells));
    }
    return table.text_within(width);
}

std::string infeasible_list(const SweepGrid& grid, const SweepBest& best, const Paint& paint,
                            std::size_t width)
{
    std::string out = paint.bold("Not possible") + "\n";
    std::set<std::string_view> hints; // each is said once
    for (const PointRow& row : best.infeasible()) {
        std::string name;
        for (std::size_t i = 0; i < row.values.size(); ++i)
            name += fmt::format("{}{}={}", i > 0 ? " " : "", short_names(grid)[i],
                                shown_value(row.values[i]));
        const bool news = !row.hint.empty() && hints.insert(row.hint).second;
        const std::string way_out = news ? fmt::format(" ({})", row.hint) : "";
        const std::vector<std::string> lines =
            wrapped(fmt::format("{}: {}{}", name, row.reason, way_out), width - 4);
        for (std::size_t i = 0; i < lines.size(); ++i)
            out += (i == 0 ? "  " : "    ") + lines[i] + "\n";
    }
    if (best.infeasible_count() > best.infeasible().size())
        out += fmt::format("  and {} more (--csv and --json have all)\n",
                           best.infeasible_count() - best.infeasible().size());
    return out;
}

std::string_view measure_words(SweepMeasure measure)
{
    switch (measure) {
    case SweepMeasure::throughput:
        return "the highest throughput";
    case SweepMeasure::throughput_per_gpu:
        return "the highest throughput per GPU";
    case SweepMeasure::step_time:
        return "the shortest step";
    case SweepMeasure::mfu:
        break;
    }
    return "the highest MFU";
}

} // namespace

std::string sweep_text(const SweepTitle& title, const SweepBest& best, const Paint& paint,
                       std::size_t width)
{
    const std::string points = points_text(title.end.points);
    std::string out =
        fmt::format("{}: {} of {} possible\n", title.scenario, best.feasible_count(), points);
    if (title.end.done < title.end.points)
        out = fmt::format("{}: interrupted after {} of {}, {} of them possible\n", title.scenario,
                          title.end.done, points, best.feasible_count());
    if (!best.best().empty()) {
        out += "\n" + best_table(title.grid, best, paint, width);
        if (best.feasible_count() > best.best().size())
            out += fmt::format("  and {} more (--csv and --json have all)\n",
                               best.feasible_count() - best.best().size());
        out += fmt::format("\nBest, by {}:\n  {}\n", measure_words(title.measure),
                           paint.bold(paste_text(title.grid.point(best.best().front().index))));
    }
    if (best.infeasible_count() > 0)
        out += "\n" + infeasible_list(title.grid, best, paint, width);
    return out;
}

std::string points_text(std::size_t points)
{
    return fmt::format("{} point{}", points, points == 1 ? "" : "s");
}

std::string speed_text(std::size_t points, Seconds time)
{
    const std::string text = fmt::format("{} in {}", points_text(points), to_display(time));
    if (points < 2 || time.value() <= 0)
        return text;
    const auto count = static_cast<double>(points);
    const Seconds each(time.value() / count);
    return each.value() > 1
               ? fmt::format("{} ({} per point)", text, to_display(each))
               : fmt::format("{} ({} points/s)", text, to_display_count(count / time.value()));
}

} // namespace trainyard
