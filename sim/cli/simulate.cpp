#include "sim/api/simulation.h"
#include "sim/base/files.h"
#include "sim/cli/command.h"
#include "sim/cli/scenario_options.h"
#include "sim/cli/terminal.h"
#include "sim/report/html/html.h"
#include "sim/report/html/timeline_svg.h"
#include "sim/report/stuck/stuck_summary.h"
#include "sim/report/summary.h"
#include "sim/report/text/pace_text.h"
#include "sim/report/text/summary_csv.h"
#include "sim/report/text/terminal.h"
#include "sim/report/timeline/kineto.h"
#include "sim/study/session.h"

#include <CLI/CLI.hpp>
#include <fmt/core.h>

#include <array>

namespace trainyard {
namespace {

struct SimulateOptions {
    std::string scenario;
    ScenarioOptions changes;
    std::string trace;
    std::vector<std::string> trace_ranks; // words of TraceRanks
    std::string html;
    std::string svg;
    std::string csv;
    std::string result;        // --output
    std::optional<int> advice; // settings to try
    bool what_if = false;
    bool json = false;
    bool no_scaling = false;
    int samples = 0;

    // Names of files to write, the unwanted ones empty.
    std::array<const std::string*, 5> outputs() const
    {
        return {&trace, &html, &svg, &csv, &result};
    }
    TraceRanks ranks() const { return TraceRanks(trace_ranks); }
    bool needs_records() const { return !trace.empty() || !html.empty() || !svg.empty(); }
};

// What makes a long simulation shorter: ranks fold unless steps or the user keep them apart.
LongWork simulation_work(const Scenario& scenario)
{
    const RunOptions& run = scenario.run;
    if (run.fidelity == Fidelity::chunk)
        return {
            "simulating {} operations, each rank by itself since all collectives go step by step",
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
    const TraceRanks ranks = options.ranks();
    return simulate_step(file, options.needs_records() ? &ranks : nullptr, session,
                         bar.control(simulation_work(file.scenario)));
}

Checked<Samples> sample(const SimulateOptions& options, const ScenarioFile& file, Session& session)
{
    ProgressBar bar;
    return session.samples(file, options.samples,
                           bar.control({"simulating {} samples", "fewer --samples"}));
}

void write_files(const SimulateOptions& options, const Outcome& outcome, const Summary& summary,
                 const std::optional<Samples>& samples)
{
    const KeepsWhatIsDone keeps; // the files before
    const std::vector<RankId> ranks = options.ranks().of_trace(outcome);
    if (!options.trace.empty())
        write_kineto_trace(options.trace, outcome, {ranks});
    if (!options.html.empty())
        write_file(options.html, html_report(outcome, summary));
    if (!options.svg.empty())
        write_file(options.svg, timeline_svg(outcome));
    if (!options.csv.empty())
        write_file(options.csv, summary_csv(outcome, summary));
    if (!options.result.empty())
        write_file(options.result, result_text(outcome, summary, samples));
    for (const std::string* const written : options.outputs())
        if (!written->empty())
            print_talk(fmt::format("wrote {}{}\n", *written,
                                   written == &options.trace ? trace_note(outcome, ranks) : ""));
}

// Of a job that ranks stop; there is no step to report.
int report_stuck(const SimulateOptions& options, const Stuck& stuck)
{
    print_problems(stuck.warnings, "");
    const StuckSummary summary = summarize(stuck);
    const std::string json = to_text(stuck_json(summary)) + "\n";
    if (!options.result.empty())
        write_file(options.result, json);
    if (options.needs_records() || !options.csv.empty())
        print_talk("no step comes to its end: only --output and --json have something to say\n");
    print_data(options.json ? json : stuck_text(summary, width_of_stdout()));
    return exit_no;
}

Checked<Summary> summarize(const SimulateOptions& options, const Outcome& outcome,
                           const ScenarioFile& file, Session& session)
{
    ProgressBar bar;
    return summarize_step(file, outcome, {!options.no_scaling, options.advice, options.what_if},
                          session, bar.control());
}

int run_simulate(const SimulateOptions& options)
{
    for (const std::string* const output : options.outputs())
        if (!output->empty())
            require_writable(*output); // all of them, before the first one is written
    const Checked<ScenarioFile> file = read_scenario(options.scenario, options.changes);
    if (!file)
        return refuse(file.error(), "nothing was run.");
    Session session;
    {
        ProgressBar bar;
        const Checked<std::optional<Stuck>> stuck =
            stuck_job(*file, session, bar.control(simulation_work(file->scenario)));
        if (!stuck)
            return refuse(stuck.error(), "nothing was run.");
        if (*stuck)
            return report_stuck(options, **stuck);
    }
    const Checked<Outcome> outcome = simulate(options, *file, session);
    if (!outcome)
        return refuse(outcome.error(), "nothing was run.");
    if (options.json)
        print_problems(outcome->warnings, ""); // the report in words has them itself
    const Checked<Summary> summed = summarize(options, *outcome, *file, session);
    if (!summed)
        return refuse(summed.error(), "nothing was printed.");
    const Summary& summary = *summed;
    std::optional<Samples> samples;
    if (options.samples > 0) {
        if (!is_random(file->scenario.perturbations))
            print_talk("nothing in this job is random: all samples are alike\n");
        Checked<Samples> made = sample(options, *file, session);
        if (!made)
            return refuse(made.error(), "nothing was printed.");
        samples = std::move(*made);
    }
    write_files(options, *outcome, summary, samples);
    const Colour colour = use_colour_on_stdout() ? Colour::ansi : Colour::none;
    if (options.json)
        print_data(result_text(*outcome, summary, samples));
    else
        print_data(terminal_text(*outcome, summary, {colour, width_of_stdout()}) +
                   (samples ? "\n" + samples_text(*samples, Paint(colour)) : ""));
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
    sub->add_option("--trace-ranks", options->trace_ranks,
                    "ranks in timelines; else one per stage, in traces as few as keep them small")
        ->delimiter(',')
        ->check(CLI::Validator(TraceRanks::flaw_of, "")) // an empty text: all is well
        ->type_name("all|stages|RANK,...");
    sub->add_option("--svg", options->svg, "write the timeline as a picture")->type_name("FILE");
    sub->add_option("--csv", options->csv, "write the summary as a table")->type_name("FILE");
    sub->add_option("--samples", options->samples,
                    "simulate so many seeds, from run.seed on: the distribution of the step time")
        ->type_name("N")
        ->check(CLI::Range(1, 1'000'000));
    sub->add_flag("--what-if", options->what_if,
                  "simulate again with each resource improved, and rank what that saves");
    sub->add_option("--advice", options->advice,
                    "settings to try for what would help most, 0: none; else as many as are quick")
        ->check(CLI::Range(0, 1000));
    sub->add_flag("--no-scaling", options->no_scaling,
                  "do not simulate the smallest size for scaling efficiency");
    sub->footer("Example: trainyard simulate scenarios/llama3-70b-h100-64.json --set strategy.tp=8 "
                "--html report.html\n"
                "Exit code 1 means that the job does not fit into memory, or gets stuck.");
    sub->callback([&chosen, options] { chosen = [options] { return run_simulate(*options); }; });
}

} // namespace trainyard
