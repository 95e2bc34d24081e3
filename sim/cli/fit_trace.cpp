#include "sim/cli/fit_trace.h"

#include "calibrate/fit/table_text.h"
#include "sim/api/step_fit.h"
#include "sim/api/traced_scenario.h"
#include "sim/base/files.h"
#include "sim/cli/terminal.h"
#include "sim/report/traces/side_by_side_text.h"

#include <fmt/core.h>

#include <filesystem>

namespace trainyard {

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
    Session session;
    const Checked<TraceFit> fit = fit_recorded_step(
        {command.files, command.scenario, command.base, name}, session, {&interrupt_flag(), {}});
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
