#include "sim/report/html/html.h"

#include "sim/base/build_info.h"
#include "sim/base/units.h"
#include "sim/report/figures.h"
#include "sim/report/headline.h"
#include "sim/report/html/charts.h"
#include "sim/report/html/page.h"
#include "sim/report/html/svg.h"
#include "sim/report/html/tables.h"
#include "sim/report/html/timeline_svg.h"
#include "sim/report/network_notes.h"
#include "sim/report/text/describe.h"
#include "sim/report/text/pace_text.h"

#include <fmt/core.h>

namespace trainyard {

namespace {

Card memory_card(const Outcome& outcome, const Summary& summary)
{
    const PeakPrediction& peak = summary.peak;
    const std::string interval = peak.has_interval() ? peak_interval_text(peak) + "; " : "";
    if (!summary.fits)
        return {"Memory",
                summary.memory_fit() == MemoryFit::does_not ? "Does not fit"
                                                            : "Probably does not fit",
                fmt::format("{} reserved of {} on stage {}, {}{} too much",
                            to_display(summary.peak_memory), to_display(summary.capacity),
                            outcome.memory.fullest_stage, interval,
                            to_display(summary.peak_memory - summary.capacity)),
                "alarm"};
    return {"Memory", to_display(summary.peak_memory),
            fmt::format("{}reserved of {}: {} on the fullest stage ({})", interval,
                        to_display(summary.capacity), memory_fit_text(summary),
                        outcome.memory.fullest_stage)};
}

Card bottleneck_card(const Bottleneck& bottleneck)
{
    return {"Bottleneck: " + std::string(to_name(bottleneck.kind)), bottleneck.evidence,
            "What usually helps: " + bottleneck.advice, "", "card wide"};
}

Card pace_card(const Pace& pace, Seconds step)
{
    return {"Pace", fmt::format("Rank {}", pace.rank), pace_sentence(pace, step), "", "card wide"};
}

// The whole step, and its beginning in detail when it has too many passes to read.
std::string timeline_section(const Outcome& outcome)
{
    constexpr std::size_t readable_passes = 44;
    const Timeline whole = make_timeline(outcome);
    if (whole.lanes.empty())
        return "";
    std::string body = fmt::format("<p class=\"sub\">Numbers are micro-batches. Small slices are "
                                   "merged; hover for details.</p>{}",
                                   timeline_figure(whole));
    const Job& job = outcome.job; // a forward and a backward pass of each chunk
    const auto passes = static_cast<std::size_t>(2 * job.micro_batches() * job.strategy.vpp);
    if (const auto window = window_of_passes(whole, readable_passes, passes)) {
        TimelineOptions options;
        options.window = window;
        body += fmt::format("<h3>The first {} of it</h3>{}", to_display(window->length),
                            timeline_figure(make_timeline(outcome, options)));
    }
    return section("One step", body);
}

std::string memory_section(const Outcome& outcome)
{
    std::string body = memory_figure(outcome.memory);
    const std::vector<LaneMemory> lanes = memory_of_lanes(outcome);
    const std::string curves = memory_over_time_figure(outcome, lanes);
    if (!curves.empty())
        body += "<h3>In use over one step</h3>" + curves + memory_by_kind_figure(outcome, lanes);
    return section("Memory", body);
}

std::string assumptions_section(const Outcome& outcome, const Summary& summary)
{
    std::vector<std::string> items;
    const auto add = [&](std::string text) { items.push_back(std::move(text)); };
    add(fmt::format("Evidence is {}: the worst grade among the inputs that matter.",
                    to_name(summary.step_time.grade)));
    if (summary.peak.has_interval())
        add(fmt::format("The interval of memory: {}.", summary.peak.basis));
    add(fmt::format("Network fidelity {}: {}.", to_name(outcome.engine.network.fidelity),
                    fidelity_meaning(outcome.engine.network.fidelity)));
    for (const std::string& note : sharing_notes(outcome))
        add(note);
    if (outcome.engine.lanes < outcome.engine.ranks)
        add(fmt::format("{} for {} ranks that are exactly alike.",
                        outcome.engine.lanes == 1
                            ? "1 lane stands"
                            : fmt::format("{} lanes stand", outcome.engine.lanes),
                        outcome.engine.ranks));
    for (const Diagnostic& problem : outcome.warnings)
        add("Warning: " + problem.message +
            (problem.hint.empty() ? "" : " (" + problem.hint + ")"));
    return section("Assumptions and warnings", list_html(items));
}

std::string inputs_section(const Outcome& outcome)
{
    return section("Inputs", fmt::format("<p>Hash {}, seed {}.</p>\n<details><summary>The scenario"
                                         "</summary><pre>{}</pre></details>\n",
                                         hash_text(outcome.input_hash), outcome.scenario.run.seed,
                                         escaped(to_text(to_json(outcome.scenario)))));
}

std::string engine_line(const Outcome& outcome)
{
    const EngineReport& engine = outcome.engine;
    return fmt::format("trainyard {}; {}, {} ranks, {} ops and {} events in {:.0f} ms", version(),
                       engine_words(outcome), engine.ranks,
                       count_text(static_cast<double>(engine.ops)),
                       count_text(static_cast<double>(engine.events)), engine.wall_ms);
}

std::string cards(const Outcome& outcome, const Summary& summary)
{
    std::vector<Card> out;
    for (const HeadlineRow& row : headline_rows(summary))
        out.push_back(
            {std::string(row.name), row.value, row.note, row.verdict ? to_word(*row.verdict) : ""});
    out.push_back(memory_card(outcome, summary));
    out.push_back(bottleneck_card(summary.bottleneck));
    if (summary.pace)
        out.push_back(pace_card(*summary.pace, summary.step_time.value));
    return cards_html(out);
}

} // namespace

std::string html_report(const Outcome& outcome, const Summary& summary)
{
    std::string out = cards(outcome, summary);
    out += section("Where the time goes", breakdown_figure(summary) + breakdown_table(summary));
    out += section("Who sets the pace", pace_tables(summary));
    out += section(summary.fits ? "What would help most" : "What would make it fit",
                   advice_table(summary));
    out += section("What if", what_if_table(summary));
    out += timeline_section(outcome);
    out += section("Input data", loading_table(summary));
    out += section("Health", health_table(summary));
    out += memory_section(outcome);
    out += section("Communication", collectives_table(summary) + network_tables(summary));
    out += assumptions_section(outcome, summary);
    out += inputs_section(outcome);
    return html_page(
        {job_title(outcome), job_settings(outcome), std::move(out), engine_line(outcome)});
}

} // namespace trainyard
