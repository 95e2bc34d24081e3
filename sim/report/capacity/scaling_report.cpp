#include "sim/report/capacity/scaling_report.h"

#include "sim/base/units.h"
#include "sim/report/capacity/smallest_fit.h"
#include "sim/report/figures.h"
#include "sim/report/kinds.h"
#include "sim/report/summary.h"
#include "sim/report/text/describe.h"
#include "sim/report/text/summary_csv.h"

#include <fmt/core.h>

namespace trainyard {

namespace {

ScalingRows rows_of(const ScalingCurve& curve)
{
    ScalingRows out{{}, curve.law, curve.pays_up_to, curve.leanest};
    for (const ScaledSize& size : curve.sizes) {
        const Outcome& outcome = *size.sized.outcome;
        ScalingRow row;
        row.gpus = size.sized.gpus;
        row.global_batch = size.global_batch;
        row.layout = layout_words(*size.sized.scenario, outcome);
        row.figures = run_figures(outcome);
        row.speedup = size.speedup;
        row.efficiency = size.efficiency;
        row.communication = size.communication;
        if (curve.law)
            row.amdahl = curve.law->speedup(1.0 * row.gpus / curve.sizes.front().sized.gpus);
        out.rows.push_back(std::move(row));
    }
    return out;
}

std::string times_text(double factor)
{
    return factor < 100 ? fmt::format("{:.3g} x", factor) : fmt::format("{:.0f} x", factor);
}

std::vector<CsvColumn> columns_of(const ScalingRow& row)
{
    std::vector<CsvColumn> out{
        {"cluster_gpus", row.gpus}, {"global_batch", row.global_batch}, {"layout", row.layout}};
    for (const Figure* figure : figures_in(in_sweep_csv))
        out.push_back({figure->key, figure->value(row.figures)});
    out.push_back({"speedup", row.speedup});
    out.push_back({"efficiency", row.efficiency});
    out.push_back({"amdahl_speedup", row.amdahl ? Json(*row.amdahl) : Json()});
    out.push_back({"communication_speedup", row.communication});
    return out;
}

Json to_json(const ScalingRows& curve)
{
    Json sizes = Json::array();
    for (const ScalingRow& row : curve.rows) {
        Json one = Json::object();
        for (const CsvColumn& column : columns_of(row))
            one[column.name] = column.value;
        sizes.push_back(std::move(one));
    }
    return Json::Object{
        {"serial_share", curve.law ? Json(curve.law->serial) : Json()},
        {"pays_up_to_gpus", curve.pays_up_to ? Json(curve.rows[*curve.pays_up_to].gpus) : Json()},
        {"sizes", std::move(sizes)}};
}

std::string curve_text(const std::string& title, const ScalingRows& curve, const Paint& paint,
                       std::size_t width)
{
    const TableCells cells = scaling_table(curve);
    std::vector<Align> aligns = words_last(cells);
    aligns[1] = Align::left;
    return paint.bold(title) + "\n" + text_within(cells, aligns, paint, width);
}

} // namespace

ScalingReport scaling_report(const ClusterScaling& scaling, std::string model)
{
    ScalingReport report;
    report.cluster = scaling.kind.name;
    report.model = std::move(model);
    report.strong = rows_of(scaling.strong);
    report.weak = rows_of(scaling.weak);
    report.interrupted = scaling.interrupted;
    return report;
}

TableCells scaling_table(const ScalingRows& curve)
{
    TableCells table{{"GPUs", "layout", "batch", "step", "per s"}, {}};
    if (curve.is_curve())
        table.heads.insert(table.heads.end(), {"speedup", "efficiency"});
    if (curve.law)
        table.heads.emplace_back("Amdahl");
    if (curve.is_curve())
        table.heads.emplace_back("communication");
    table.heads.emplace_back("loses most in");
    for (const ScalingRow& row : curve.rows) {
        std::vector<std::string>& cells = table.rows.emplace_back();
        cells = {fmt::format("{}", row.gpus), row.layout, fmt::format("{}", row.global_batch),
                 to_display(row.figures.step_time.value),
                 to_display_count(row.figures.work_per_s())};
        if (curve.is_curve())
            cells.insert(cells.end(), {times_text(row.speedup), percent(row.efficiency)});
        if (row.amdahl)
            cells.push_back(times_text(*row.amdahl));
        if (curve.is_curve())
            cells.push_back(times_text(row.communication));
        cells.emplace_back(title_of(largest_loss(row.figures.mean)));
    }
    return table;
}

std::vector<std::string> scaling_verdicts(const ScalingReport& report)
{
    std::vector<std::string> out;
    if (report.strong.rows.empty())
        return {fmt::format("{}: the training runs on no size of the range.", report.cluster)};
    if (!report.strong.is_curve())
        return {fmt::format("{} alone {} in the range: a curve needs two sizes that run it.",
                            gpus_text(report.strong.rows.front().gpus),
                            report.strong.rows.front().gpus == 1 ? "is" : "are")};
    const ScalingRow& first = report.strong.rows.front();
    const ScalingRow& last = report.strong.rows.back();
    if (report.strong.pays_up_to) {
        const int pays = report.strong.rows[*report.strong.pays_up_to].gpus;
        out.push_back(
            pays == last.gpus
                ? fmt::format("With one batch of {} on all sizes more GPUs pay up to {}, the most "
                              "looked at: 1 % more of them still save more than half a per cent "
                              "of the time.",
                              first.global_batch, pays)
                : fmt::format("With one batch of {} on all sizes more GPUs pay up to {}: past "
                              "that 1 % more of them save less than half a per cent of the time.",
                              first.global_batch, pays));
    }
    if (report.strong.law) {
        const double serial = report.strong.law->serial;
        out.push_back(serial > 0
                          ? fmt::format("Amdahl's law fits best where {:.2g} % of the step of {} "
                                        "does not get shorter: {} as quick at most.",
                                        100 * serial, gpus_text(first.gpus), times_text(1 / serial))
                          : fmt::format("Amdahl's law fits best where all of the step of {} gets "
                                        "shorter: no limit is in sight.",
                                        gpus_text(first.gpus)));
    }
    out.push_back(fmt::format(
        "If all but communication took as few GPU seconds a sequence as on {}, {} would be {} as "
        "quick as {}; they are {}.",
        gpus_text(report.strong.rows[report.strong.leanest].gpus), last.gpus,
        times_text(last.communication), first.gpus, times_text(last.speedup)));
    if (report.interrupted)
        out.emplace_back("Interrupted: smaller sizes were not looked at.");
    return out;
}

std::string scaling_text(const ScalingReport& report, const Paint& paint, std::size_t width)
{
    std::string out =
        paint.bold(fmt::format("Scaling of {} on {}", report.model, report.cluster)) + "\n";
    for (const std::string& verdict : scaling_verdicts(report))
        for (const std::string& line : wrapped(verdict, width))
            out += line + "\n";
    if (report.strong.rows.empty())
        return out;
    out += "\n" + curve_text("One batch on all sizes (strong)", report.strong, paint, width);
    if (report.strong.is_curve())
        out += "\n" + curve_text("A batch in proportion (weak)", report.weak, paint, width);
    return out;
}

Json to_json(const ScalingReport& report)
{
    return Json::Object{{"cluster", report.cluster},
                        {"model", report.model},
                        {"interrupted", report.interrupted},
                        {"strong", to_json(report.strong)},
                        {"weak", to_json(report.weak)}};
}

std::string scaling_csv(const std::vector<ScalingReport>& reports)
{
    std::string out;
    for (const ScalingReport& report : reports)
        for (const auto& [curve, rows] :
             {std::pair("strong", &report.strong), std::pair("weak", &report.weak)})
            for (const ScalingRow& row : rows->rows) {
                std::vector<CsvColumn> columns{{"cluster", report.cluster}, {"curve", curve}};
                for (CsvColumn& column : columns_of(row))
                    columns.push_back(std::move(column));
                if (out.empty())
                    out = csv_names(columns);
                out += csv_values(columns);
            }
    return out;
}

} // namespace trainyard
