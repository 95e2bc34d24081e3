#include "sim/cli/fit_trace.h"

#include "calibrate/fit/table_text.h"
#include "sim/base/files.h"
#include "sim/cli/terminal.h"
#include "sim/cli/traced_scenario.h"
#include "sim/report/traces/side_by_side_text.h"
#include "sim/study/cost_part.h"
#include "sim/study/traced/trace_rates.h"

#include <fmt/core.h>

#include <filesystem>

namespace trainyard {
namespace {

Checked<TraceFit> fit_of(const FitTraceCommand& command, const std::string& name)
{
    const Checked<JobTrace> job = read_job_trace(command.files);
    if (!job)
        return tl::unexpected(job.error());
    RunSummary run = run_summary(*job);
    Session session;
    std::vector<std::string> changes;
    if (!command.base.empty())
        changes.push_back("profile=" + command.base);
    const Checked<TracedScenario> scenario =
        simulate_beside(command.scenario, changes, run, command.files.front(), session);
    if (!scenario)
        return tl::unexpected(scenario.error());
    const Checked<Profile> base =
        stated_constants(scenario->file, scenario->outcome.cost->profile());
    if (!base)
        return tl::unexpected(base.error());
    return fit_traced_job(
        *job, run,
        {scenario->file, *scenario->outcome.topology, to_json(*base), name, command.files.front()},
        session, {&interrupt_flag(), {}});
}

} // namespace

ExitCode run_fit_trace(const FitTraceCommand& command)
{
    constexpr std::string_view nothing_fitted = "nothing was fitted.";
    std::vector<std::string> read = command.files;
    read.push_back(command.scenario);
    if (const Problems problems = lost_files({command.output}, read); !problems.empty())
        return refuse(problems, nothing_fitted);
    if (!command.output.empty())
        require_writable(command.output);
    const std::string name = !command.name.empty() ? command.name
                             : !command.output.empty()
                                 ? std::filesystem::path(command.output).stem().string()
                                 : std::string("traced");
    const Checked<TraceFit> fit = fit_of(command, name);
    if (!fit)
        return refuse(fit.error(), nothing_fitted);
    if (!command.output.empty()) {
        write_file(command.output, table_text(fit->profile));
        print_talk(fmt::format("wrote {}: simulate, plan or compare with --profile {}\n",
                               command.output, command.output));
    }
    print_data(command.json ? to_text(to_json(*fit)) + "\n"
                            : trace_fit_text(*fit, width_of_stdout()));
    return exit_ok;
}

} // namespace trainyard
