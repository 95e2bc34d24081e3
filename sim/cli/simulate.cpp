#include "sim/base/files.h"
#include "sim/cli/command.h"
#include "sim/cli/scenario_options.h"
#include "sim/cli/terminal.h"
#include "sim/report/html/html.h"
#include "sim/report/html/timeline_svg.h"
#include "sim/report/summary.h"
#include "sim/report/text/summary_csv.h"
#include "sim/report/text/summary_json.h"
#include "sim/report/text/terminal.h"
#include "sim/report/timeline/kineto.h"
#include "sim/report/timeline/recorded.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <array>

namespace trainyard {
namespace {

struct SimulateOptions {
    std::string scenario;
    ScenarioOptions changes;
    std::string trace;
    std::vector<int> trace_ranks;
    std::string html;
    std::string svg;
    std::string csv;
    std::string result; // --output
    bool json = false;
    bool no_scaling = false;

    // Names of files to write, the unwanted ones empty.
    std::array<const std::string*, 5> outputs() const
    {
        return {&trace, &html, &svg, &csv, &result};
    }
    bool needs_records() const { return !trace.empty() || !html.empty() || !svg.empty(); }
};

// The lanes a timeline shows: those asked for, else one per stage and the critical one.
RecordRequest lanes_to_record(const SimulateOptions& options, const Outcome& outcome)
{
    if (options.trace_ranks.empty())
        return default_trace_lanes(outcome);
    RecordRequest request = default_trace_lanes(outcome);
    const auto binding = outcome.binding;
    request.lane = [binding, ranks = options.trace_ranks](LaneId lane) {
        return std::find(ranks.begin(), ranks.end(),
                         static_cast<int>(binding->lanes[lane.value].rank.value)) != ranks.end();
    };
    return request;
}

// Ranks asked for that are not simulated one by one.
Problems unknown_ranks(const SimulateOptions& options, const Outcome& outcome)
{
    Problems problems;
    for (const int rank : options.trace_ranks) {
        const auto& lanes = outcome.binding->lanes;
        const bool found = std::any_of(lanes.begin(), lanes.end(), [rank](const Lane& lane) {
            return static_cast<int>(lane.rank.value) == rank;
        });
        if (!found)
            problems.push_back(
                {"", 0, "", fmt::format("--trace-ranks: rank {} is not simulated", rank),
                 rank < outcome.engine.ranks
                     ? "it is alike another rank; --no-fold simulates every one"
                     : fmt::format("ranks are numbered 0 to {}", outcome.engine.ranks - 1),
                 Severity::error});
    }
    return problems;
}

// What makes a long simulation shorter: ranks fold unless links or the user keep them apart.
LongWork simulation_work(const RunOptions& run)
{
    if (run.fidelity != Fidelity::alpha_beta)
        return {"simulating {} operations, each rank by itself since links are shared",
                "--fidelity alpha-beta simulates one of each kind of rank"};
    if (!run.fold)
        return {"simulating {} operations, each rank by itself",
                "without --no-fold one of each kind of rank is simulated"};
    return {"simulating {} operations",
            run.steps > 2 ? "--set run.steps=2 simulates fewer steps" : ""};
}

Checked<Outcome> simulate(const SimulateOptions& options, const ScenarioFile& file,
                          Session& session)
{
    ProgressBar bar;
    SimulateRequest request;
    request.work = bar.control(simulation_work(file.scenario.run));
    Checked<Outcome> outcome = session.simulate(file, request);
    if (!outcome || !options.needs_records())
        return outcome;
    if (Problems unknown = unknown_ranks(options, *outcome); !unknown.empty())
        return tl::unexpected(std::move(unknown));
    request.record = lanes_to_record(options, *outcome);
    const EngineReport engine = outcome->engine;
    Checked<Outcome> recorded = session.simulate(file, request);
    if (recorded)
        recorded->engine = engine;
    return recorded;
}

void write_files(const SimulateOptions& options, const Outcome& outcome, const Summary& summary)
{
    if (!options.trace.empty())
        write_kineto_trace(options.trace, outcome);
    if (!options.html.empty())
        write_file(options.html, html_report(outcome, summary));
    if (!options.svg.empty())
        write_file(options.svg, timeline_svg(outcome));
    if (!options.csv.empty())
        write_file(options.csv, summary_csv(outcome, summary));
    if (!options.result.empty())
        write_file(options.result, to_text(to_json(outcome, summary)) + "\n");
    for (const std::string* const written : options.outputs())
        if (!written->empty())
            print_talk(fmt::format("wrote {}\n", *written));
}

int run_simulate(const SimulateOptions& options)
{
    for (const std::string* const output : options.outputs())
        if (!output->empty())
            require_writable(*output); // all of them, before the first one is written
    const Checked<ScenarioFile> file = read_scenario(options.scenario, options.changes);
    if (!file) {
        print_problems(file.error(), "nothing was run.");
        return exit_invalid_input;
    }
    Session session;
    const Checked<Outcome> outcome = simulate(options, *file, session);
    if (!outcome) {
        print_problems(outcome.error(), "nothing was written.");
        return exit_invalid_input;
    }
    print_problems(outcome->warnings, "");
    const Summary summary = summarize(
        *outcome, *file, session, {options.no_scaling ? ScalingRun::skip : ScalingRun::simulate});
    write_files(options, *outcome, summary);
    if (options.json)
        print_data(to_text(to_json(*outcome, summary)) + "\n");
    else
        print_data(terminal_text(*outcome, summary,
                                 {use_colour_on_stdout() ? Colour::ansi : Colour::none}));
    return summary.fits ? exit_ok : exit_no;
}

} // namespace

void add_simulate(CLI::App& program, Command& chosen)
{
    CLI::App* const sub =
        program.add_subcommand("simulate", "Simulate one training step of a scenario");
    auto options = std::make_shared<SimulateOptions>();
    sub->add_option("scenario", options->scenario, "scenario file")->required()->type_name("FILE");
    add_scenario_options(*sub, options->changes);
    sub->add_flag("--json", options->json, "print the result as JSON");
    sub->add_option("-o,--output", options->result, "write the result as JSON")->type_name("FILE");
    sub->add_option("--html", options->html, "write a report that needs no network")
        ->type_name("FILE");
    sub->add_option("--trace", options->trace,
                    "write a timeline for Perfetto or chrome://tracing (.json or .json.gz)")
        ->type_name("FILE");
    sub->add_option("--trace-ranks", options->trace_ranks, "ranks in timelines; else one per stage")
        ->delimiter(',')
        ->type_name("RANK,...");
    sub->add_option("--svg", options->svg, "write the timeline as a picture")->type_name("FILE");
    sub->add_option("--csv", options->csv, "write the summary as a table")->type_name("FILE");
    sub->add_flag("--no-scaling", options->no_scaling,
                  "do not simulate the smallest size for scaling efficiency");
    sub->footer("Example: trainyard simulate scenarios/llama3-70b-h100-64.json --set strategy.tp=8 "
                "--html report.html\n"
                "Exit code 1 means that the job does not fit into memory.");
    sub->callback([&chosen, options] { chosen = [options] { return run_simulate(*options); }; });
}

} // namespace trainyard
