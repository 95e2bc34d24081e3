#include "sim/report/figures.h"
#include "sim/report/kinds.h"
#include "sim/report/network_notes.h"
#include "sim/report/plan/plan_report.h"
#include "sim/report/text/paste.h"
#include "sim/report/text/table.h"

#include <fmt/core.h>

#include <algorithm>
#include <functional>
#include <span>

namespace trainyard {

namespace {

// A column of sizes; left out where no row has anything to tell in it.
struct Column {
    const char* title;
    std::string usual; // what says nothing
    std::function<std::string(const PlanRow&)> cell;
};

std::string recompute_text(const RecomputeChoice& choice)
{
    std::string text(to_name(choice.kind));
    return choice.layers ? fmt::format("{}:{}", text, *choice.layers) : text;
}

const std::vector<Column>& columns()
{
    const auto number = [](int LayoutChoice::*size) {
        return [size](const PlanRow& row) { return fmt::format("{}", row.choice.*size); };
    };
    static const std::vector<Column> all{
        {"tp", "1", number(&LayoutChoice::tp)},
        {"cp", "1", number(&LayoutChoice::cp)},
        {"pp", "1", number(&LayoutChoice::pp)},
        {"vpp", "1", number(&LayoutChoice::vpp)},
        {"ep", "1", number(&LayoutChoice::ep)},
        {"etp", "1", number(&LayoutChoice::etp)},
        {"dp", "", [](const PlanRow& row) { return fmt::format("{}", row.dp); }},
        {"zero", "0", number(&LayoutChoice::zero)},
        {"schedule", "1f1b",
         [](const PlanRow& row) { return std::string(row.choice.schedule->name()); }},
        {"batch", "",
         [](const PlanRow& row) { return fmt::format("{}", row.choice.global_batch); }},
        {"micro", "", [](const PlanRow& row) { return fmt::format("{}", row.choice.micro_batch); }},
        {"recompute", "none",
         [](const PlanRow& row) { return recompute_text(row.choice.recompute); }},
    };
    return all;
}

using Rows = std::span<const PlanRow>;

std::vector<const Column*> telling_columns(Rows rows)
{
    std::vector<const Column*> out;
    for (const Column& column : columns()) {
        const bool one_batch =
            std::string_view(column.title) == "batch" &&
            std::ranges::all_of(rows, [&](const PlanRow& row) {
                return row.choice.global_batch == rows.front().choice.global_batch;
            });
        const bool tells = std::ranges::any_of(
            rows, [&](const PlanRow& row) { return column.cell(row) != column.usual; });
        if (tells && !one_batch)
            out.push_back(&column);
    }
    return out;
}

// "+1.2 %": against the best.
std::string slower(const PlanRow& best, const PlanRow& row)
{
    return best.choice == row.choice ? "" : "+" + percent(slowdown(row, best) - 1);
}

std::string table_text(const PlanReport& report, Rows rows, const Paint& paint, std::size_t width)
{
    const TableCells plan = plan_table(report, rows);
    return text_within(plan, words_last(plan), paint, width);
}

std::string field_name(const std::string& pointer)
{
    std::string name = pointer.substr(pointer.empty() ? 0 : 1);
    std::ranges::replace(name, '/', '.');
    return name;
}

std::string reason_text(Exclusion why, const std::string& pointer, const std::string& example,
                        const PlanReport& report)
{
    switch (why) {
    case Exclusion::devices:
        return fmt::format("tp x cp x pp does not divide the {} devices", report.devices);
    case Exclusion::batch:
        return "micro_batch x dp does not divide the batch";
    case Exclusion::input:
        return fmt::format("{} does not fit: {}", field_name(pointer), example);
    case Exclusion::framework:
        return fmt::format("{} does not start {} with stages, or with experts over ranks", example,
                           field_name(pointer));
    case Exclusion::same:
        return "the same job as another point";
    case Exclusion::memory:
        return "a device has too little memory";
    case Exclusion::slower:
        return "slower than those shown, of the same sizes or at all";
    case Exclusion::engine:
        break;
    }
    return fmt::format("refused for {}", field_name(pointer));
}

std::string exclusion_list(const PlanReport& report, const Paint& paint, std::size_t width)
{
    TextTable table({Align::right, Align::left});
    for (const LeftOut& one : left_out(report))
        table.add({grouped(one.points), one.reason});
    return paint.bold("Left out") + "\n" + table.text_within(width);
}

} // namespace

std::string proof_text(const PlanReport& report)
{
    const SearchResult& search = report.search;
    if (search.open > 0 && search.gap() == 0)
        return fmt::format(
            "Interrupted, and the best is proven: {} were simulated, what each of the "
            "others takes at least is no less. Of those that come after it some may "
            "be missing.",
            grouped(search.simulated));
    if (search.open > 0)
        return fmt::format("Interrupted: a layout that was not looked at may be up to {} quicker.",
                           percent(search.gap()));
    return fmt::format("No other layout of the space is quicker: {} were simulated, what the "
                       "others take at least is more.",
                       grouped(search.simulated));
}

std::string runner_up_text(const PlanReport& report)
{
    if (report.rows.size() < 2)
        return "";
    const PlanRow& best = report.rows.front();
    const PlanRow& second = report.rows[1];
    const RatioPrediction ratio = against(second, best);
    std::string out = fmt::format("The runner-up, {}, takes {} longer", second.layout,
                                  percent(slowdown(second, best) - 1));
    if (second.loses_in)
        out += fmt::format(": it loses most in {} ({} more a step)", noun_of(*second.loses_in),
                           to_display(second.lost));
    if (knows_memory(report) && memory_left(second) > memory_left(best))
        out += fmt::format(", and leaves {} of memory in place of {}", percent(memory_left(second)),
                           percent(memory_left(best)));
    return out + fmt::format(". Measured, it is the quicker one with probability {:.2f} ({}).",
                             ratio.b_is_quicker, ratio.basis);
}

namespace {

// What it takes to run the scenario's sizes, and what they cost; empty where nothing does.
std::string fitting_text(const PlanReport& report)
{
    if (!report.own_fitting)
        return "";
    const PlanRow& best = report.rows.front();
    const PlanRow& own = *report.own_fitting;
    const double share = 1 - 1 / slowdown(own, best);
    const std::string time = fmt::format(" With {} it takes {}", paste_text(own.changes),
                                         to_display(own.step_time.value));
    if (share <= 0)
        return time + ": it is as good as the best.";
    return fmt::format("{}: the best saves {}{}.", time, percent(share),
                       own.loses_in ? fmt::format(", most of it in {}", noun_of(*own.loses_in))
                                    : "");
}

} // namespace

std::string own_text(const PlanReport& report)
{
    if (!report.tells_own)
        return "";
    if (!report.own_refusal.empty())
        return fmt::format("The scenario's own layout: {}.{}", report.own_refusal,
                           fitting_text(report));
    if (!report.own)
        return "The scenario's own layout does not fit." + fitting_text(report);
    const PlanRow& best = report.rows.front();
    const PlanRow& own = *report.own;
    const double share = 1 - 1 / slowdown(own, best);
    const std::string time =
        fmt::format("The scenario's own layout takes {}", to_display(own.step_time.value));
    if (own.gpus != report.devices)
        return fmt::format("{} on {} of the {} devices.", time, own.gpus, report.devices);
    if (share < 0 && report.search.open > 0)
        return time + ", less than the best so far: the search ended before it came to it.";
    if (share < 0)
        return fmt::format("{}, less than the best here: with {} of memory{}.", time,
                           percent(own.peak_memory / own.capacity),
                           own.peak_memory / own.capacity > 1 - report.headroom
                               ? ""
                               : ", and values that were not searched");
    if (share == 0)
        return time + ": it is as good as the best.";
    return fmt::format("{}: the best saves {}{}.", time, percent(share),
                       own.loses_in ? fmt::format(", most of it in {}", noun_of(*own.loses_in))
                                    : "");
}

namespace {

std::string no_layout(const PlanReport& report)
{
    const SearchResult& search = report.search;
    if (search.bounded < search.points)
        return fmt::format("Interrupted when {} of the layouts were bounded: none was simulated.",
                           grouped(search.bounded));
    if (search.open > 0)
        return "Interrupted before a layout was found that fits.";
    const std::optional<LargeLayout>& nearest = report.search.nearest;
    if (!nearest)
        return report.search.possible > 0
                   ? "No layout fits: what may have room by its bound needs more when it runs."
                   : "No layout of the space can be: of each the sizes do not go together.";
    return fmt::format(
        "No layout fits and leaves {:.4g} % of memory: the nearest needs at least {} "
        "on a device of {}.",
        100 * report.headroom, to_display(nearest->memory), to_display(report.search.capacity));
}

} // namespace

std::string nothing_fits(const PlanReport& report)
{
    return no_layout(report) +
           (report.smallest ? " " + smallest_text(*report.smallest) : std::string());
}

TableCells plan_table(const PlanReport& report, Rows rows)
{
    const std::vector<const Column*> sizes = telling_columns(rows);
    TableCells table;
    for (const Column* column : sizes)
        table.heads.emplace_back(column->title);
    const PlanRow& best = report.rows.front();
    std::vector<const Figure*> figures = figures_in(in_sweep_text);
    std::erase_if(figures, [&](const Figure* figure) { return !figure->counts_in(best.work()); });
    for (const Figure* figure : figures)
        table.heads.push_back(figure->heading_for(best.device_word()));
    const bool all_fit = std::ranges::all_of(
        rows, [](const PlanRow& row) { return row.memory_fit() == MemoryFit::fits; });
    if (!all_fit)
        table.heads.emplace_back("fits");
    table.heads.insert(table.heads.end(), {"slower", "loses in"});
    for (const PlanRow& row : rows) {
        std::vector<std::string>& cells = table.rows.emplace_back();
        for (const Column* column : sizes)
            cells.push_back(column->cell(row));
        for (const Figure* figure : figures)
            cells.push_back(figure->unit == FigureUnit::bytes
                                ? percent(row.peak_memory / row.capacity)
                                : figure->text(figure->number(row)));
        if (!all_fit)
            cells.emplace_back(fit_cell(row.memory_fit()));
        cells.push_back(slower(best, row));
        cells.emplace_back(row.loses_in ? title_of(*row.loses_in) : "");
    }
    return table;
}

std::string front_title(const PlanReport& report)
{
    const std::size_t shown = telling_front(report).size();
    const std::string most =
        shown < report.front.size()
            ? fmt::format(" ({} of {}; the others lie between)", shown, report.front.size())
            : "";
    const std::uint64_t open = report.search.front->open;
    if (open > 0)
        return fmt::format("Interrupted: of {} layouts it is not known whether they are quicker or "
                           "smaller than these{}",
                           grouped(open), most);
    return fmt::format("Nothing is both quicker and smaller than one of these{}", most);
}

std::vector<LeftOut> left_out(const PlanReport& report)
{
    std::vector<LeftOut> out;
    for (const auto& [why, count] : report.search.excluded)
        out.push_back({count.points, reason_text(why.first, why.second, count.example, report)});
    if (report.search.open > 0)
        out.push_back({report.search.open, "not looked at: the search was interrupted"});
    return out;
}

std::string plan_text(const PlanReport& report, const Paint& paint, std::size_t width)
{
    std::string out =
        fmt::format("{}: {} layouts on {} devices, {} with room for them{}\n\n", report.scenario,
                    grouped(report.search.points), report.devices, grouped(report.search.possible),
                    report.search.bounded < report.search.points ? " so far" : "");
    if (report.rows.empty())
        return out + hung("", nothing_fits(report), width) + "\n" +
               exclusion_list(report, paint, width);
    out += fmt::format("  {}\n\n", report.title) + table_text(report, report.rows, paint, width);
    if (!report.front.empty())
        out += "\n" + paint.bold(front_title(report)) + "\n" +
               table_text(report, telling_front(report), paint, width);
    const std::string room = report.headroom > 0 ? fmt::format(" with {:.4g} % of memory to spare",
                                                               100 * report.headroom)
                                                 : "";
    const std::string settings = plan_settings(report);
    out += fmt::format("\nBest{}:\n  {}\n\n", room,
                       settings.empty() ? "the scenario as it stands" : paint.bold(settings));
    const std::string fidelity = fmt::format("Network fidelity {}: {}.", to_name(report.fidelity),
                                             fidelity_meaning(report.fidelity));
    for (const std::string& text :
         {proof_text(report), runner_up_text(report), own_text(report), fidelity})
        if (!text.empty())
            out += hung("", text, width);
    out += "\n" + exclusion_list(report, paint, width);
    return report.training ? out + "\n" + training_text(*report.training, paint, width) : out;
}

} // namespace trainyard
