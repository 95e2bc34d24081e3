#include "sim/report/traces/recorded_html.h"

#include "sim/base/build_info.h"
#include "sim/report/figures.h"
#include "sim/report/html/bar_chart.h"
#include "sim/report/html/html_table.h"
#include "sim/report/html/page.h"
#include "sim/report/html/svg.h"
#include "sim/report/html/timeline_svg.h"
#include "sim/report/kinds.h"
#include "sim/report/text/describe.h"
#include "sim/report/traces/layer_sides_text.h"
#include "sim/report/traces/rebuilt_text.h"
#include "sim/report/traces/recorded_parts.h"
#include "sim/report/traces/recorded_run.h"
#include "sim/report/traces/recorded_timeline.h"
#include "sim/report/traces/side_by_side_text.h"

#include <fmt/core.h>

#include <algorithm>

namespace trainyard {
namespace {

constexpr std::size_t rows_on_page = 40;
constexpr std::size_t kernels_on_page = 20;
constexpr std::size_t cells_on_page = 110; // of a name
constexpr std::size_t most_bars = 16;

std::string part_html(const ReportPart& part)
{
    if (part.empty())
        return "";
    std::string out = table_html(part.table);
    for (const std::string& note : part.notes)
        out += fmt::format("<p class=\"sub\">{}</p>\n", escaped(note));
    return out;
}

StepBar rank_bar(const RankSummary& rank)
{
    StepBar bar{fmt::format("rank {}", rank.rank), rank.time, to_display(rank.step)};
    bar.queued = rank.gaps;
    bar.untold = rank.untold;
    return bar;
}

std::string bars_section(const RunSummary& run)
{
    std::vector<StepBar> bars;
    for (std::size_t r = 0; r < std::min(run.ranks.size(), most_bars); ++r)
        bars.push_back(rank_bar(run.ranks[r]));
    std::string body = step_bars_figure("where the time of a step goes", bars);
    if (run.ranks.size() > most_bars)
        body += fmt::format("<p class=\"sub\">The first {} of {} ranks.</p>\n", most_bars,
                            run.ranks.size());
    return section("Where the time goes", body + part_html(breakdown_part(run)));
}

std::string beside_section(const JobTrace& job, const SimulatedBeside& beside)
{
    const SideBySide& sides = beside.sides;
    StepBar recorded{"recorded", sides.recorded_time, to_display(sides.recorded)};
    recorded.queued = sides.recorded_gaps;
    recorded.untold = sides.recorded_untold;
    std::string body = step_bars_figure(
        "the recorded and the simulated step",
        {recorded, {"simulated", sides.simulated_time, to_display(sides.simulated)}});
    for (const ReportPart& part : side_by_side_parts(sides))
        body += part_html(part);
    return section("Beside the simulated step", body) +
           section("Both steps", timeline_figure(both_timelines(job, beside.outcome)));
}

std::vector<Card> run_cards(const RunSummary& run, const SimulatedBeside* beside)
{
    std::vector<Card> out;
    if (const std::string verdict = verdict_sentence(run); !verdict.empty())
        out.push_back({"Diagnosis", verdict, "", "", "card wide"});
    out.push_back({"Step", to_display(run.step), steps_text(run)});
    if (beside != nullptr)
        out.push_back({"Simulated", to_display(beside->sides.simulated),
                       ratio_text(beside->sides.recorded, beside->sides.simulated) +
                           " of the recorded step"});
    Seconds computes;
    Seconds communicates;
    for (const RankSummary& rank : run.ranks) {
        computes += (1 / static_cast<double>(run.ranks.size())) * rank.compute_busy;
        communicates += (1 / static_cast<double>(run.ranks.size())) * rank.communication_busy;
    }
    out.push_back({"Computes", percent(computes / run.step), "of the step, mean of the ranks"});
    if (communicates.value() > 0)
        out.push_back({"Communicates", percent(communicates / run.step),
                       "of the step, hidden or not, waiting included"});
    if (!run.stragglers.empty() && run.stragglers.front().kept.value() > 0) {
        const StragglerRow& row = run.stragglers.front();
        out.push_back({"Waited for", fmt::format("Rank {}", row.rank),
                       fmt::format("the others waited {} a step for it, summed over them",
                                   to_display(row.kept))});
    }
    if (run.rebuilt)
        out.push_back({"Run again", to_display(run.rebuilt->rebuilt()),
                       fmt::format("the step from its own ops, against {} recorded",
                                   to_display(run.rebuilt->recorded()))});
    return out;
}

std::string scaled_section(const RunSummary& run)
{
    if (!run.scaled)
        return "";
    return section("At another size",
                   fmt::format("<p>{}</p>\n", escaped(scaled_step_sentence(*run.scaled))) +
                       part_html(scaled_step_part(*run.scaled)));
}

std::string recorded_step_section(const JobTrace& job)
{
    const Timeline timeline = recorded_timeline(job);
    return timeline.lanes.empty() ? "" : section("One step", timeline_figure(timeline));
}

} // namespace

std::string recorded_html(const RunSummary& run, const JobTrace& job, const SimulatedBeside* beside)
{
    std::string body = section("Doubtful", list_html(run.doubts));
    body += cards_html(run_cards(run, beside));
    body += bars_section(run);
    body += beside != nullptr ? beside_section(job, *beside) : recorded_step_section(job);
    body += section("What the device runs",
                    part_html(device_work_part(run)) +
                        part_html(kernels_part(run, kernels_on_page, cells_on_page)));
    body += section("Transfers", part_html(transfers_part(run, rows_on_page)));
    body += section("Who waits for whom", part_html(stragglers_part(run, rows_on_page)));
    if (run.rebuilt)
        body += section("The step run again", part_html(rebuilt_step_part(run)));
    body += scaled_section(run);
    body += section("Assumed", list_html(run.assumed));
    const std::vector<std::string> head = recorded_head_lines(run);
    std::vector<std::string> files;
    for (const RankSummary& rank : run.ranks)
        files.push_back(rank.file);
    body += section("Files", list_html(files));
    return html_page({head[0], head[1], std::move(body), fmt::format("trainyard {}", version())});
}

} // namespace trainyard
