#include "sim/report/fit/fit_html.h"

#include "sim/base/build_info.h"
#include "sim/base/units.h"
#include "sim/report/fit/fit_chart.h"
#include "sim/report/html/style.h"
#include "sim/report/html/svg.h"

#include <fmt/format.h>

#include <algorithm>

namespace trainyard {
namespace {

constexpr std::size_t drawn_sweeps = 40;

std::string percent_text(double share, int count)
{
    return count > 0 ? fmt::format("{:.1f} %", 100 * share) : "–";
}

std::string card(std::string_view name, const std::string& value, const std::string& note)
{
    return fmt::format("<div class=\"card\"><div class=\"name\">{}</div><div class=\"value\">{}"
                       "</div><div class=\"note\">{}</div></div>\n",
                       name, value, escaped(note));
}

std::string cards(const FitSummary& summary)
{
    const int scored = static_cast<int>(summary.scored);
    return "<div class=\"cards\">\n" +
           card("Sweeps", fmt::to_string(summary.sweeps),
                fmt::format("{} with {} sizes or more", summary.scored, enough_points)) +
           card("Error at sizes left out", percent_text(summary.loo_median, scored),
                "median over sweeps") +
           card("90th percentile", percent_text(summary.loo_p90, scored), "of the same") +
           card("In sample", percent_text(summary.in_sample_median, scored),
                fmt::format("compact form of at most {} lines: {}", most_lines,
                            percent_text(summary.compact_median, scored))) +
           "</div>\n";
}

std::string band_row(std::string_view title, const ErrorTally& tally)
{
    std::string out = fmt::format("<tr><td>{}</td>", title);
    for (const SizeBand band : size_bands)
        out += fmt::format("<td class=\"n\">{}</td>",
                           percent_text(tally.mean(band), tally.count(band)));
    return out +
           fmt::format("<td class=\"n\">{}</td></tr>\n", percent_text(tally.mean(), tally.count()));
}

std::string band_table(const FitSummary& summary)
{
    std::string out = "<div class=\"scroll\"><table>\n<tr><th>left out</th>";
    for (const SizeBand band : size_bands)
        out += fmt::format("<th class=\"n\">{}</th>", escaped(title_of(band)));
    out += "<th class=\"n\">all</th></tr>\n";
    for (const auto& [kind, tally] : summary.by_collective)
        out += band_row(to_name(kind), tally);
    out += band_row("all", summary.all);
    if (summary.held_out_launch.count() > 0)
        out += band_row("launches left out", summary.held_out_launch);
    return out + "</table></div>\n";
}

std::string lines_text(const SweepFit& fit)
{
    std::string out;
    for (const AlphaBetaLine& line : fit.lines)
        out += fmt::format("{}{} + S / {}", out.empty() ? "" : ", ", to_display(line.alpha),
                           to_display(line.rate));
    return "T(S) = min(" + out + ")";
}

std::string point_table(const SweepFit& fit)
{
    std::string out = "<details><summary>As a table</summary><div class=\"scroll\"><table>\n<tr>"
                      "<th class=\"n\">size</th><th class=\"n\">measured</th><th class=\"n\">fitted"
                      "</th><th class=\"n\">without it</th></tr>\n";
    for (const TimedSize& point : fit.points) {
        const auto left_out =
            std::find_if(fit.left_out.begin(), fit.left_out.end(),
                         [&](const Residual& residual) { return residual.size == point.size; });
        out += fmt::format(
            "<tr><td class=\"n\">{}</td><td class=\"n\">{}</td><td class=\"n\">{}"
            "</td><td class=\"n\">{}</td></tr>\n",
            to_text(point.size), to_display(point.time), to_display(time_at(fit.curve, point.size)),
            left_out == fit.left_out.end() ? std::string("–")
                                           : fmt::format("{:+.1f} %", 100 * left_out->error));
    }
    return out + "</table></div></details>\n";
}

std::string sweep_section(const SweepFit& fit)
{
    std::string out = fmt::format(
        "<h3>{} among {} ranks on {} node{}</h3>\n<p class=\"sub\">{}<br>{} sizes; left out {}, in "
        "sample {}. {}</p>\n",
        to_name(fit.collective), fit.ranks, fit.nodes, fit.nodes == 1 ? "" : "s",
        escaped(fit.source), fit.points.size(),
        percent_text(fit.leave_one_out.mean(), fit.leave_one_out.count()),
        percent_text(fit.in_sample.mean(), fit.in_sample.count()), escaped(lines_text(fit)));
    for (const std::string& flag : fit.flags)
        out += fmt::format("<p class=\"fair\">{}</p>\n", escaped(flag));
    return out + fit_chart(fit) + point_table(fit);
}

// In the order of the report; of many, the worst.
std::vector<const SweepFit*> drawn(const FitReport& report)
{
    std::vector<const SweepFit*> out;
    for (const SweepFit& fit : report.fits)
        if (!fit.points.empty())
            out.push_back(&fit);
    if (out.size() <= drawn_sweeps)
        return out;
    std::stable_sort(out.begin(), out.end(), [](const SweepFit* a, const SweepFit* b) {
        return a->leave_one_out.mean() > b->leave_one_out.mean();
    });
    out.resize(drawn_sweeps);
    return out;
}

constexpr std::string_view legend =
    "<p class=\"legend\"><span><i class=\"key dot\"></i>measured</span><span><i class=\"key\"></i>"
    "fit</span><span><i class=\"key wide\"></i>90 % of new measurements</span><span><i class=\"key "
    "dashed\"></i>compact form, its switch points dotted</span></p>\n";

} // namespace

std::string fit_html(const FitReport& report, const FitPage& page)
{
    std::string sections;
    const std::vector<const SweepFit*> shown = drawn(report);
    for (const SweepFit* fit : shown)
        sections += sweep_section(*fit);
    const std::string chosen =
        shown.size() < report.fits.size()
            ? fmt::format("<p class=\"sub\">The {} worst fitted of {}.</p>\n", shown.size(),
                          report.fits.size())
            : "";
    return fmt::format("<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta "
                       "name=\"viewport\" content=\"width=device-width\"><title>{0}</title>\n"
                       "<style>{1}{2}{3}</style></head>\n<body><main>\n<h1>{0}</h1>\n{4}{5}"
                       "<h2>Errors at sizes left out</h2>\n{6}<h2>Sweeps</h2>\n{7}{8}{9}"
                       "<footer>trainyard {10}</footer>\n</main></body></html>\n",
                       escaped(page.title), picture_style(), page_style(), fit_chart_style(),
                       page.above, cards(report.summary), band_table(report.summary), legend,
                       chosen, sections, version());
}

} // namespace trainyard
