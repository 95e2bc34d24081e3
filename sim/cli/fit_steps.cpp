#include "sim/cli/fit_steps.h"

#include "calibrate/fit/table_text.h"
#include "sim/api/step_fit.h"
#include "sim/base/files.h"
#include "sim/cli/terminal.h"
#include "sim/study/session.h"

#include <fmt/core.h>

#include <filesystem>

namespace trainyard {
ExitCode run_fit_steps(const FitStepsCommand& command)
{
    if (!command.output.empty())
        require_writable(command.output);
    const WorkControl work{&interrupt_flag(), {}};
    Session session;
    const Checked<OwnStepsReport> report =
        fit_own_steps({command.files, command.base, command.target}, session, work);
    if (!report)
        return refuse(report.error(), "nothing was fitted.");
    for (const std::string& note : report->steps.notes)
        print_talk(fmt::format("assumed: {}\n", note));
    if (!command.output.empty()) {
        const std::string name = command.name.empty()
                                     ? std::filesystem::path(command.output).stem().string()
                                     : command.name;
        work.check();
        write_file(command.output, table_text(profile_of(*report, name)));
        print_talk(fmt::format("wrote {}: simulate, plan or compare with --profile {}\n",
                               command.output, command.output));
    }
    print_data(command.json ? to_text(to_json(*report)) + "\n" : own_steps_text(*report));
    return exit_ok;
}

} // namespace trainyard
