#include "sim/api/comparison.h"
#include "sim/cli/command.h"
#include "sim/cli/scenario_options.h"
#include "sim/cli/terminal.h"
#include "sim/study/problems.h"

#include <CLI/CLI.hpp>
#include <fmt/ranges.h>

namespace trainyard {
namespace {

struct CompareOptions {
    std::vector<std::string> scenarios;
    ScenarioOptions changes;
    bool json = false;
};

// The scenarios with the changes; one alone is compared with what the changes make of it.
std::vector<ScenarioFile> read_all(const CompareOptions& options, Problems& problems)
{
    std::vector<ScenarioFile> files;
    const auto read = [&](const std::string& path, const ScenarioOptions& changes) {
        Checked<ScenarioFile> file = read_scenario(path, changes);
        if (file)
            files.push_back(std::move(*file));
        else
            append(problems, file.error());
    };
    const std::string& first = options.scenarios.front();
    if (options.scenarios.size() > 1) {
        for (const std::string& path : options.scenarios)
            read(path, options.changes);
        return files;
    }
    ScenarioOptions unchanged = options.changes;
    unchanged.changes.clear();
    if (options.changes.changes.empty())
        problems.push_back({first, 0, "", "one scenario alone has nothing to be compared with",
                            "a second one, or --set FIELD=VALUE", Severity::error});
    read(first, unchanged);
    if (!files.empty()) // else its problems would be told twice
        read(first, options.changes);
    if (files.size() == 2)
        files.back().file =
            fmt::format("{} with {}", first, fmt::join(options.changes.changes, ", "));
    return files;
}

int run_compare(const CompareOptions& options)
{
    Problems problems;
    std::vector<ScenarioFile> files = read_all(options, problems);
    if (has_errors(problems)) {
        print_problems(problems, "nothing was compared.");
        return exit_invalid_input;
    }
    Session session;
    Checked<ScenarioComparison> compared = tl::unexpected(Problems{});
    {
        ProgressBar bar;
        compared = compare_scenarios(std::move(files), session, bar.control());
    }
    append(problems, compared ? compared->warnings : compared.error());
    print_problems(problems, "nothing was compared.");
    if (has_errors(problems))
        return exit_invalid_input;
    const std::vector<ComparedRun>& runs = compared->runs;
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
        ->expected(1, 16)
        ->type_name("FILE");
    add_scenario_options(*sub, options->changes);
    sub->add_flag("--json", options->json, "print the comparison as JSON");
    sub->footer(
        "Options change every scenario; one alone is compared with what --set makes of it.\n"
        "Example: trainyard compare scenarios/ddp-overlap.json scenarios/ddp-no-overlap.json");
    sub->callback([&chosen, options] { chosen = [options] { return run_compare(*options); }; });
}

} // namespace trainyard
