#include "sim/report/compare/compare.h"

#include "sim/cli/command.h"
#include "sim/cli/scenario_options.h"
#include "sim/cli/terminal.h"
#include "sim/study/problems.h"
#include "sim/study/session.h"

#include <CLI/CLI.hpp>

namespace trainyard {
namespace {

struct CompareOptions {
    std::vector<std::string> scenarios;
    ScenarioOptions changes;
    bool json = false;
};

// Scenarios that leave the fidelity open get the one that they have in common with the others.
void settle_fidelity(std::vector<ScenarioFile>& files, Session& session)
{
    std::vector<FidelityChoice> choices;
    for (const ScenarioFile& file : files)
        if (const Checked<FidelityChoice> choice = session.fidelity(file))
            choices.push_back(*choice);
    const Fidelity common = common_fidelity(choices);
    for (ScenarioFile& file : files)
        if (!file.scenario.run.fidelity)
            file = in_fidelity(std::move(file), common);
}

int run_compare(const CompareOptions& options)
{
    Session session;
    std::vector<ComparedRun> runs;
    Problems problems;
    ProgressBar bar;
    std::vector<ScenarioFile> files;
    for (const std::string& path : options.scenarios) {
        Checked<ScenarioFile> file = read_scenario(path, options.changes);
        if (file)
            files.push_back(std::move(*file));
        else
            append(problems, file.error());
    }
    settle_fidelity(files, session);
    for (const ScenarioFile& file : files) {
        Checked<Outcome> outcome = session.simulate(file, {{}, bar.control()});
        if (!outcome) {
            problems.insert(problems.end(), outcome.error().begin(), outcome.error().end());
            continue;
        }
        problems.insert(problems.end(), outcome->warnings.begin(), outcome->warnings.end());
        Summary summary = summarize(*outcome, sensitivity_of(session, file, *outcome).value());
        runs.push_back({file.file, std::move(*outcome), std::move(summary)});
    }
    print_problems(problems, "nothing was compared.");
    if (has_errors(problems))
        return exit_invalid_input;
    print_data(options.json
                   ? to_text(comparison_json(runs)) + "\n"
                   : comparison_text(runs, {use_colour_on_stdout() ? Colour::ansi : Colour::none,
                                            width_of_stdout()}));
    return exit_ok;
}

} // namespace

void add_compare(CLI::App& program, Command& chosen)
{
    CLI::App* const sub = program.add_subcommand("compare", "Compare scenarios, differences first");
    auto options = std::make_shared<CompareOptions>();
    sub->add_option("scenarios", options->scenarios, "scenario files, the first is the baseline")
        ->required()
        ->expected(2, 16)
        ->type_name("FILE");
    add_scenario_options(*sub, options->changes);
    sub->add_flag("--json", options->json, "print the comparison as JSON");
    sub->footer(
        "Example: trainyard compare scenarios/ddp-overlap.json scenarios/ddp-no-overlap.json");
    sub->callback([&chosen, options] { chosen = [options] { return run_compare(*options); }; });
}

} // namespace trainyard
