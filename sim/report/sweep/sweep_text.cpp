#include "sim/report/figures.h"
#include "sim/report/network_notes.h"
#include "sim/report/sweep/sweep_output.h"
#include "sim/report/text/paste.h"
#include "sim/report/text/table.h"

#include <fmt/core.h>

#include <algorithm>

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

// Lines inside the width, those after the first further in.
std::string paragraph(std::string_view text, std::size_t indent, std::size_t width)
{
    std::string out;
    for (const std::string& line : wrapped(text, width - indent - 2))
        out += std::string(out.empty() ? indent : indent + 2, ' ') + line + "\n";
    return out;
}

bool same_size(const std::vector<PointRow>& rows)
{
    return std::ranges::all_of(rows,
                               [&](const PointRow& row) { return row.gpus == rows.front().gpus; });
}

// The batch that a row takes, where it is not the one asked for.
std::string batch_cell(const PointRow& row)
{
    return row.moved ? fmt::format("{} for {}", row.moved->taken, row.moved->asked)
                     : fmt::format("{}", row.global_batch);
}

// "97.4 %", marked where less than the headroom is left.
std::string memory_cell(const PointRow& row, double headroom)
{
    return (leaves_room(row, headroom) ? "" : "* ") + percent(row.peak_memory / row.capacity);
}

// The columns of a table that depend on what its rows differ in.
struct Columns {
    std::string_view device; // what it is called
    std::vector<const Figure*> figures;
    bool sizes = false;                    // numbers of devices
    bool batch = false;                    // a batch was moved and is no axis
    std::optional<std::size_t> batch_axis; // else that axis
};

Columns columns_of(const SweepGrid& grid, const std::vector<PointRow>& rows)
{
    const PointRow& first = rows.front();
    Columns out{first.device_word(), figures_in(in_sweep_text), !same_size(rows), false,
                std::nullopt};
    std::erase_if(out.figures,
                  [&](const Figure* figure) { return !figure->counts_in(first.work()); });
    const auto axis = std::ranges::find(grid.axes, "training.global_batch", &SweepAxis::field);
    if (axis != grid.axes.end())
        out.batch_axis = static_cast<std::size_t>(axis - grid.axes.begin());
    else
        out.batch =
            std::ranges::any_of(rows, [](const PointRow& row) { return row.moved.has_value(); });
    return out;
}

std::vector<std::string> titles_of(const SweepGrid& grid, const Columns& columns)
{
    std::vector<std::string> out = short_names(grid);
    if (columns.batch)
        out.emplace_back("global_batch");
    if (columns.sizes)
        out.push_back(fmt::format("{}s", columns.device));
    for (const Figure* figure : columns.figures)
        out.push_back(figure->heading_for(columns.device));
    out.emplace_back("bottleneck");
    return out;
}

std::vector<std::string> cells_of(const PointRow& row, const Columns& columns, double headroom)
{
    std::vector<std::string> cells;
    for (std::size_t i = 0; i < row.values.size(); ++i)
        cells.push_back(columns.batch_axis == i ? batch_cell(row) : shown_value(row.values[i]));
    if (columns.batch)
        cells.push_back(batch_cell(row));
    if (columns.sizes)
        cells.push_back(fmt::format("{}", row.gpus));
    for (const Figure* figure : columns.figures)
        cells.push_back(figure->unit == FigureUnit::bytes ? memory_cell(row, headroom)
                                                          : figure->text(figure->number(row)));
    cells.emplace_back(to_name(row.bottleneck.kind));
    return cells;
}

std::string best_table(const SweepGrid& grid, const SweepBest& best, const Paint& paint,
                       std::size_t width)
{
    const Columns columns = columns_of(grid, best.best());
    std::vector<std::string> head;
    for (const std::string& title : titles_of(grid, columns))
        head.push_back(paint.dim(title));
    std::vector<Align> aligns(head.size(), Align::right);
    aligns.back() = Align::left;
    TextTable table(aligns);
    table.add(std::move(head));
    for (const PointRow& row : best.best())
        table.add(cells_of(row, columns, best.headroom()));
    return table.text_within(width);
}

// "5 %", "2.5 %"
std::string headroom_words(double headroom)
{
    return fmt::format("{:.4g} % of memory to spare", 100 * headroom);
}

// "tp=4 micro_batch=2"
std::string point_name(const SweepGrid& grid, const PointRow& row)
{
    const std::vector<std::string> names = short_names(grid);
    std::string out;
    for (std::size_t i = 0; i < row.values.size(); ++i)
        out += fmt::format("{}{}={}", i > 0 ? " " : "", names[i], shown_value(row.values[i]));
    return out;
}

// "12 points, the nearest to fitting tp=4: "; of one point its name alone.
std::string reason_head(const SweepGrid& grid, const ReasonCount& reason)
{
    const std::string name = point_name(grid, reason.example);
    if (reason.count == 1)
        return name.empty() ? "" : name + ": ";
    const bool memory = reason.hindrance.kind == Hindrance::Kind::memory;
    return fmt::format("{}, {} {}: ", points_text(reason.count),
                       memory ? "the nearest to fitting" : "the first", name);
}

std::string reason_list(const SweepGrid& grid, const SweepBest& best, const Paint& paint,
                        std::size_t width)
{
    std::string out = paint.bold("Not possible") + "\n";
    for (const ReasonCount& reason : best.reasons()) {
        const PointRow& example = reason.example;
        const std::string way_out = example.hint.empty() ? "" : fmt::format(" ({})", example.hint);
        out += paragraph(reason_head(grid, reason) + example.reason + way_out, 2, width);
    }
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

// What to paste, with the fields that were left to follow.
std::string paste_of(const SweepTitle& title, const PointRow& row)
{
    std::vector<Override> changes = changes_of(title.grid, row);
    for (const FollowingField& field : title.following)
        if (std::ranges::find(changes, field.freed.field, &Override::field) == changes.end())
            changes.insert(changes.begin(), field.freed);
    return paste_text(changes);
}

std::string headline(const SweepTitle& title, const SweepBest& best)
{
    const std::string points = points_text(title.end.points);
    std::string out =
        title.end.done < title.end.points
            ? fmt::format("{}: interrupted after {} of {}, {} of them possible", title.scenario,
                          title.end.done, points, best.feasible_count())
            : fmt::format("{}: {} of {} possible", title.scenario, best.feasible_count(), points);
    if (best.roomy_count() < best.feasible_count())
        out += fmt::format(", {} with {}", best.roomy_count(), headroom_words(best.headroom()));
    return out + "\n";
}

// What to take; where nothing leaves room, that nothing does.
std::string recommendation(const SweepTitle& title, const SweepBest& best, const Paint& paint,
                           std::size_t width)
{
    const PointRow* const taken = best.recommended();
    const std::string room = best.headroom() > 0 ? " with " + headroom_words(best.headroom()) : "";
    if (taken == nullptr)
        return "\n" + paragraph(fmt::format("None fits{}: nothing is recommended (--headroom 0 "
                                            "takes what fits at all)",
                                            room),
                                0, width);
    return fmt::format("\nBest{}, by {}:\n  {}\n", room, measure_words(title.measure),
                       paint.bold(paste_of(title, *taken)));
}

// The fidelity of all points, where they have one, and at how many it does not see what it could.
std::string fidelity_notes(const SweepBest& best, std::size_t width)
{
    if (best.fidelities().size() != 1)
        return "";
    const Fidelity fidelity = *best.fidelities().begin();
    std::string text =
        fmt::format("Network fidelity {}: {}.", to_name(fidelity), fidelity_meaning(fidelity));
    if (best.overasked_count() > 0)
        text += fmt::format(" At {} links between switches may be asked for up to {:.0f} % of what "
                            "they carry; --fidelity bundle shares them.",
                            points_text(best.overasked_count()), 100 * best.most_asked());
    return "\n" + paragraph(text, 0, width);
}

std::string following_notes(const SweepTitle& title, std::size_t width)
{
    std::string out;
    for (const FollowingField& field : title.following)
        out +=
            paragraph(fmt::format("{} follows from the swept fields here (--grid {} keeps it)",
                                  field.freed.field, setting_text({field.freed.field, field.own})),
                      0, width);
    return out.empty() ? out : "\n" + out;
}

} // namespace

std::string sweep_text(const SweepTitle& title, const SweepBest& best, const Paint& paint,
                       std::size_t width)
{
    std::string out = headline(title, best);
    if (!best.best().empty()) {
        out += "\n" + best_table(title.grid, best, paint, width);
        if (best.feasible_count() > best.best().size())
            out += fmt::format("  and {} more (--csv and --json have all)\n",
                               best.feasible_count() - best.best().size());
        if (!leaves_room(best.best().back(), best.headroom()))
            out += fmt::format("  * fits without {}: not recommended\n",
                               headroom_words(best.headroom()));
        out += recommendation(title, best, paint, width);
    }
    out += fidelity_notes(best, width) + following_notes(title, width);
    if (best.infeasible_count() > 0)
        out += "\n" + reason_list(title.grid, best, paint, width);
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
