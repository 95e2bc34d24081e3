#include "sim/report/fit/fit_text.h"

#include "sim/report/text/table.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace trainyard {
namespace {

constexpr std::size_t listed_sweeps = 60;

// "1 sweep", "2 sweeps"
template <class Count>
std::string counted(Count count, std::string_view thing)
{
    return fmt::format("{} {}{}", count, thing, count == 1 ? "" : "s");
}

std::string percent_cell(double share, int count)
{
    return count > 0 ? fmt::format("{:.1f}", 100 * share) : "-";
}

std::vector<std::string> band_cells(const ErrorTally& tally)
{
    std::vector<std::string> out;
    for (const SizeBand band : size_bands)
        out.push_back(percent_cell(tally.mean(band), tally.count(band)));
    out.push_back(percent_cell(tally.mean(), tally.count()));
    return out;
}

void add_row(TextTable& table, std::string title, const ErrorTally& tally)
{
    std::vector<std::string> cells{std::move(title)};
    for (std::string& cell : band_cells(tally))
        cells.push_back(std::move(cell));
    table.add(std::move(cells));
}

std::string by_collective(const FitSummary& summary)
{
    TextTable table(
        {Align::left, Align::right, Align::right, Align::right, Align::right, Align::right});
    std::vector<std::string> head{"error at sizes left out, %"};
    for (const SizeBand band : size_bands)
        head.emplace_back(title_of(band));
    head.emplace_back("all");
    table.add(std::move(head));
    for (const auto& [kind, tally] : summary.by_collective)
        add_row(table, std::string(to_name(kind)), tally);
    add_row(table, "all", summary.all);
    if (summary.held_out_launch.count() > 0)
        add_row(table, "launches left out", summary.held_out_launch);
    return table.text();
}

std::string sweeps_table(const FitReport& report)
{
    TextTable table({Align::left, Align::left, Align::right, Align::right, Align::right,
                     Align::right, Align::right});
    table.add({"sweep", "collective", "ranks", "nodes", "sizes", "in sample %", "left out %"});
    for (const SweepFit& fit : report.fits) {
        if (&fit - report.fits.data() == static_cast<std::ptrdiff_t>(listed_sweeps))
            break;
        table.add({end_of(fit.source, 48), std::string(to_name(fit.collective)),
                   fmt::to_string(fit.ranks), fmt::to_string(fit.nodes),
                   fmt::to_string(fit.points.size()),
                   percent_cell(fit.in_sample.mean(), fit.in_sample.count()),
                   percent_cell(fit.leave_one_out.mean(), fit.leave_one_out.count())});
    }
    std::string out = table.text();
    if (report.fits.size() > listed_sweeps)
        out += fmt::format("  ... and {} more (--json lists all)\n",
                           report.fits.size() - listed_sweeps);
    return out;
}

std::string stand_ins(const FitReport& report)
{
    std::string out;
    for (const GroupSizeErrors& errors : report.group_sizes)
        out += fmt::format("{} ranks from {} and {}: {:.1f} % (median of {})\n", errors.ranks,
                           errors.from, errors.and_from, 100 * errors.median,
                           counted(errors.sets, "set"));
    for (const PriorErrors& errors : report.prior)
        out += fmt::format("NCCL's own model on {}, one node: {:.1f} % with two factors, {:.1f} % "
                           "without (median of {})\n",
                           errors.generation, 100 * errors.median, 100 * errors.raw_median,
                           counted(errors.sweeps, "sweep"));
    return out.empty() ? out : "Where nothing was measured\n" + out + "\n";
}

std::string flags_text(const FitReport& report)
{
    std::string out;
    std::size_t listed = 0;
    std::size_t flagged = 0;
    for (const SweepFit& fit : report.fits) {
        flagged += fit.flags.empty() ? 0 : 1;
        if (fit.flags.empty() || listed == listed_sweeps)
            continue;
        ++listed;
        out += fmt::format("  {}: {}\n", fit.source, fmt::join(fit.flags, "; "));
    }
    if (flagged > listed)
        out += fmt::format("  ... and {} more (--json lists all)\n", flagged - listed);
    return out.empty() ? out : "Flags\n" + out;
}

} // namespace

std::string fit_text(const FitReport& report)
{
    const FitSummary& summary = report.summary;
    std::string out;
    if (summary.scored > 0)
        out += fmt::format("{}, {} with {} sizes or more. Error at sizes left out: median "
                           "{:.2f} %, 90th percentile {:.2f} %.\nIn sample {:.2f} %, compact form "
                           "of at most {} lines {:.1f} % (medians).\n\n{}\n",
                           counted(summary.sweeps, "sweep"), summary.scored, enough_points,
                           100 * summary.loo_median, 100 * summary.loo_p90,
                           100 * summary.in_sample_median, most_lines, 100 * summary.compact_median,
                           by_collective(summary));
    else
        out += fmt::format("{}, none with {} sizes or more: no error can be stated for the "
                           "whole range.\n\n",
                           counted(summary.sweeps, "sweep"), enough_points);
    return out + stand_ins(report) + sweeps_table(report) + "\n" + flags_text(report);
}

} // namespace trainyard
