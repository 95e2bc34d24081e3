#include "calibrate/program/report_page.h"

#include "calibrate/fit/fit_report.h"
#include "calibrate/measure/output/jumps.h"
#include "calibrate/measure/output/result_rows.h"
#include "calibrate/measure/output/sweeps.h"
#include "sim/base/units.h"
#include "sim/report/fit/fit_html.h"
#include "sim/report/html/svg.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace trainyard {
namespace {

std::string list_of(const std::vector<std::string>& lines)
{
    std::string out = "<ul>\n";
    for (const std::string& line : lines)
        out += fmt::format("<li>{}</li>\n", escaped(line));
    return out + "</ul>\n";
}

std::string row(const std::string& name, const std::string& value)
{
    return fmt::format("<tr><td>{}</td><td>{}</td></tr>\n", escaped(name), escaped(value));
}

std::string machine_section(const MeasuredRun& run)
{
    std::string out = "<h2>Machine</h2>\n<div class=\"scroll\"><table>\n";
    out += row("started", run.started) + row("launched by", run.launch_style) +
           row("ranks", fmt::to_string(run.ranks.size()));
    if (!run.ranks.empty()) {
        const BackendFacts& facts = run.ranks.front().facts;
        out += row("device", facts.device) + row(facts.name, facts.version);
        if (!facts.driver.empty())
            out += row("driver", facts.driver) + row("CUDA", facts.cuda);
        for (const auto& [name, value] : facts.properties)
            out += row(name, value);
    }
    for (const auto& [name, value] : run.variables)
        out += row(name, value);
    return out + "</table></div>\n";
}

std::string findings_section(const MeasuredRun& run, const MachineStudy& study)
{
    std::vector<std::string> lines;
    for (const auto* verdicts : {&study.slow_pairs.slow, &study.slow_devices})
        for (const SlowVerdict& verdict : *verdicts)
            lines.push_back(fmt::format("slow: {}: {}", verdict.what, verdict.evidence));
    for (const std::string& text : study.stragglers)
        lines.push_back("late: " + text);
    lines.insert(lines.end(), study.doubts.begin(), study.doubts.end());
    std::string out = "<h2>Findings</h2>\n";
    out += lines.empty() ? "<p>No link, device or rank is slower than its like.</p>\n"
                         : list_of(lines);
    if (const std::vector<std::string> jumps = jumps_of(run); !jumps.empty())
        out += "<h3>Jumps that added sizes did not resolve</h3>\n" + list_of(jumps);
    if (!run.left_out.empty())
        out += fmt::format("<details><summary>{} left out</summary>{}</details>\n",
                           run.left_out.size(), list_of(run.left_out));
    return out;
}

// Share of the best: the darker the slower (of latencies, the longer).
double badness(const PairMatrix& matrix, double value, double best)
{
    const double share = matrix.quantity == PairQuantity::bandwidth ? value / best : best / value;
    return std::clamp(1 - share, 0.0, 1.0);
}

std::string cell(const PairMatrix& matrix, const std::optional<double>& value, double best)
{
    if (!value)
        return "<td class=\"n\">–</td>";
    const bool rates = matrix.quantity == PairQuantity::bandwidth;
    return fmt::format("<td class=\"n\" style=\"background:rgba(200,60,40,{:.2f})\">{:.3g}</td>",
                       0.8 * badness(matrix, *value, best), rates ? *value / 1e9 : *value * 1e6);
}

std::string pair_section(const PairMatrix& matrix)
{
    const bool rates = matrix.quantity == PairQuantity::bandwidth;
    double best = rates ? 0 : INFINITY;
    for (const auto& line : matrix.values)
        for (const auto& value : line)
            if (value)
                best = rates ? std::max(best, *value) : std::min(best, *value);
    std::string out = fmt::format("<h3>Pairs, {} ({})</h3>\n<div class=\"scroll\"><table>\n"
                                  "<tr><th>from \\ to</th>",
                                  escaped(matrix.title), rates ? "GB/s" : "us");
    for (std::size_t i = 0; i < matrix.values.size(); ++i)
        out += fmt::format("<th class=\"n\">{}</th>", i);
    out += "</tr>\n";
    for (std::size_t i = 0; i < matrix.values.size(); ++i) {
        out += fmt::format("<tr><td>{}</td>", i);
        for (const auto& value : matrix.values[i])
            out += cell(matrix, value, best);
        out += "</tr>\n";
    }
    return out + "</table></div>\n";
}

std::string result_section(const MeasuredRun& run)
{
    std::string rows;
    for (const ResultRow& one : result_rows(run))
        rows += fmt::format("<tr><td>{}</td><td class=\"n\">{}</td><td class=\"n\">{}</td></tr>\n",
                            escaped(one.what), to_display(one.time), one.reached);
    return rows.empty()
               ? ""
               : "<h2>Kernels, alone and beside collectives; barriers and messages</h2>\n"
                 "<div class=\"scroll\"><table>\n<tr><th>what</th><th class=\"n\">time</th>"
                 "<th class=\"n\">reached</th></tr>\n" +
                     rows + "</table></div>\n";
}

std::string creation_section(const MeasuredRun& run)
{
    std::string rows;
    for (const CreationTime& creation : run.creations)
        rows +=
            fmt::format("<tr><td>{}</td><td class=\"n\">{}</td><td class=\"n\">{}</td></tr>\n",
                        escaped(creation.group.name), creation.launch, to_display(creation.time));
    return rows.empty() ? ""
                        : "<h2>Making communicators</h2>\n<div class=\"scroll\"><table>\n"
                          "<tr><th>group</th><th class=\"n\">launch</th><th class=\"n\">time</th>"
                          "</tr>\n" +
                              rows + "</table></div>\n";
}

} // namespace

std::string calibrate_html(const MeasuredRun& run, const MachineStudy& study)
{
    std::string above = machine_section(run) + findings_section(run, study);
    for (const PairMatrix& matrix : study.pairs)
        above += pair_section(matrix);
    above += result_section(run) + creation_section(run);
    const std::vector<Sweep> sweeps = collective_sweeps(run);
    return fit_html(report_on(sweeps), {"Calibration", above});
}

} // namespace trainyard
