#include "sim/report/capacity/guide_report.h"

#include "sim/base/units.h"
#include "sim/report/capacity/smallest_fit.h"
#include "sim/report/figures.h"
#include "sim/report/html/html_table.h"
#include "sim/report/html/page.h"
#include "sim/report/html/svg.h"
#include "sim/report/kinds.h"
#include "sim/report/summary.h"
#include "sim/report/text/describe.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace trainyard {

namespace {

// Why no layout of a family runs.
std::string refusal_of(const GuideRow& row)
{
    return row.needed ? fmt::format("{} needed", to_display(*row.needed)) : "none";
}

std::string cell_of(const GuideRow& row)
{
    if (row.figures)
        return to_display(row.figures->step_time.value);
    return row.needed ? fmt::format("≥ {}", to_display(*row.needed)) : "none";
}

GuideRow row_of(const GuideSize& size, StrategyFamily family)
{
    const SizedCluster& sized = size.best[static_cast<std::size_t>(family)];
    GuideRow row{family, "", {}, {}};
    if (!sized.outcome) {
        row.needed = sized.least_memory;
        return row;
    }
    row.layout = layout_words(*sized.scenario, *sized.outcome);
    row.figures = run_figures(*sized.outcome);
    row.behind = 1 - pace_of(sized) / pace_of(size.best[static_cast<std::size_t>(*size.quickest)]);
    return row;
}

// What a family that is simpler than the advised one lacks.
std::string simpler_text(const GuideRow& row)
{
    if (!row.figures)
        return row.needed ? fmt::format("{} does not fit (a device needs {})", title_of(row.family),
                                        to_display(*row.needed))
                          : "";
    return fmt::format("{} is {} slower, most of it in {}", title_of(row.family),
                       percent(1 / (1 - row.behind) - 1), noun_of(largest_loss(row.figures->mean)));
}

std::string reason_of(const GuideSizeReport& size)
{
    std::vector<std::string> simpler;
    constexpr double told = 0.0005; // less is 0.0 %
    double saved = 0;               // by more complex ones
    const GuideRow* advised = nullptr;
    for (const GuideRow& row : size.rows) {
        if (row.family == size.advised)
            advised = &row;
        else if (advised == nullptr) {
            if (std::string text = simpler_text(row); !text.empty())
                simpler.push_back(std::move(text));
        } else if (row.figures)
            saved = std::max(saved, 1 - (1 - advised->behind) / (1 - row.behind));
    }
    if (advised->family != StrategyFamily::all)
        simpler.push_back(saved < told ? "nothing is quicker"
                                       : fmt::format("others save {} at most", percent(saved)));
    return fmt::format("{}", fmt::join(simpler, "; "));
}

// Requires that one is advised.
std::string reason_line(const GuideSizeReport& size)
{
    const auto row = std::ranges::find(size.rows, *size.advised, &GuideRow::family);
    return fmt::format("{} {} {}: {}.", gpus_text(size.gpus), size.gpus == 1 ? "takes" : "take",
                       row->layout, size.reason);
}

bool is_shown(const GuideReport& report, StrategyFamily family)
{
    return std::ranges::any_of(report.sizes, [&](const GuideSizeReport& size) {
        const GuideRow& row = size.rows[static_cast<std::size_t>(family)];
        return row.figures || row.needed;
    });
}

constexpr std::string_view note =
    "Steps of the best layout of each family; \"≥\": what a device must have at least. "
    "Taken is the simplest family within 5 % of the quickest.";
static_assert(near_enough == 0.05);

} // namespace

std::string_view title_of(StrategyFamily family)
{
    switch (family) {
    case StrategyFamily::ddp:
        return "DDP";
    case StrategyFamily::zero_1:
        return "ZeRO-1";
    case StrategyFamily::zero_2:
        return "ZeRO-2";
    case StrategyFamily::zero_3:
        return "ZeRO-3 / FSDP";
    case StrategyFamily::experts:
        return "EP, ZeRO-1";
    case StrategyFamily::tensor:
        return "TP, ZeRO-1";
    case StrategyFamily::pipeline:
        return "PP, ZeRO-1";
    case StrategyFamily::all:
        break;
    }
    return "all together";
}

GuideReport guide_report(const StrategyGuide& guide, std::string model)
{
    GuideReport report{guide.kind.name, std::move(model), {}, guide.interrupted};
    for (const GuideSize& size : guide.sizes) {
        GuideSizeReport one{size.gpus, {}, size.advised, ""};
        for (std::size_t i = 0; i < strategy_family_count; ++i)
            one.rows.push_back(row_of(size, static_cast<StrategyFamily>(i)));
        if (one.advised)
            one.reason = reason_of(one);
        report.sizes.push_back(std::move(one));
    }
    return report;
}

TableCells guide_table(const GuideReport& report)
{
    TableCells table{{"GPUs"}, {}};
    for (std::size_t i = 0; i < strategy_family_count; ++i)
        if (is_shown(report, static_cast<StrategyFamily>(i)))
            table.heads.emplace_back(title_of(static_cast<StrategyFamily>(i)));
    table.heads.emplace_back("take");
    for (const GuideSizeReport& size : report.sizes) {
        std::vector<std::string>& cells = table.rows.emplace_back();
        cells.push_back(fmt::format("{}", size.gpus));
        for (const GuideRow& row : size.rows)
            if (is_shown(report, row.family))
                cells.push_back(cell_of(row));
        cells.emplace_back(size.advised ? title_of(*size.advised) : "nothing fits");
    }
    return table;
}

std::string guide_text(const GuideReport& report, const Paint& paint, std::size_t width)
{
    const TableCells cells = guide_table(report);
    std::string out =
        paint.bold(fmt::format("Which strategy for {} on {}", report.model, report.cluster)) +
        "\n" + text_within(cells, words_last(cells), paint, width) + "\n";
    for (const GuideSizeReport& size : report.sizes)
        if (size.advised)
            out += hung("  ", reason_line(size), width);
    for (const std::string& line : wrapped(note, width))
        out += line + "\n";
    return report.interrupted ? out + "Interrupted: larger sizes were not looked at.\n" : out;
}

std::string guide_html(const GuideReport& report)
{
    const TableCells table = guide_table(report);
    std::vector<std::string> reasons;
    for (const GuideSizeReport& size : report.sizes)
        if (size.advised)
            reasons.push_back(reason_line(size));
    return section(
        fmt::format("Which strategy for {} on {}", escaped(report.model), escaped(report.cluster)),
        table_html(table, {table.heads.size() - 1}) + list_html(reasons) +
            fmt::format("<p class=\"sub\">{}</p>\n", escaped(note)));
}

Json to_json(const GuideReport& report)
{
    Json sizes = Json::array();
    for (const GuideSizeReport& size : report.sizes) {
        Json families = Json::array();
        for (const GuideRow& row : size.rows) {
            Json one(Json::Object{{"family", to_name(row.family)},
                                  {"layout", row.layout},
                                  {"refusal", row.figures ? "" : refusal_of(row)}});
            if (row.figures)
                for (const Figure* figure : figures_in(in_sweep_json))
                    one[figure->key] = figure->value(*row.figures);
            families.push_back(std::move(one));
        }
        sizes.push_back(
            Json::Object{{"gpus", size.gpus},
                         {"advised", size.advised ? Json(to_name(*size.advised)) : Json()},
                         {"reason", size.reason},
                         {"families", std::move(families)}});
    }
    return Json::Object{{"cluster", report.cluster},
                        {"model", report.model},
                        {"interrupted", report.interrupted},
                        {"sizes", std::move(sizes)}};
}

} // namespace trainyard
