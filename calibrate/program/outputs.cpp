#include "calibrate/program/outputs.h"

#include "calibrate/measure/output/sweeps.h"
#include "sim/cli/terminal.h"

#include <fmt/format.h>

namespace trainyard {
namespace {

void print_table(const MeasuredRun& run)
{
    for (const Sweep& sweep : collective_sweeps(run))
        print_data(sweep_table(sweep) + "\n");
}

void say_what_was_left_out(const MeasuredRun& run)
{
    constexpr std::size_t most = 10;
    for (std::size_t i = 0; i < run.left_out.size() && i < most; ++i)
        print_talk(fmt::format("left out: {}\n", run.left_out[i]));
    if (run.left_out.size() > most)
        print_talk(fmt::format("left out: {} more\n", run.left_out.size() - most));
}

} // namespace

int write_outputs(const CalibrateOptions& options, const SessionResult& result)
{
    const MeasuredRun& run = result.run;
    say_what_was_left_out(run);
    if (options.output.empty() || options.table || !run.ended.empty())
        print_table(run);
    if (!run.ended.empty()) {
        print_talk(fmt::format("stopped: {}\n", run.ended));
        if (!result.journal.empty())
            print_talk(fmt::format("kept: {} points in {}; a profile of them: trainyard calibrate "
                                   "--from {} -o FILE\n",
                                   run.points.size(), result.journal.string(),
                                   result.journal.string()));
        return result.exit;
    }
    return exit_ok;
}

} // namespace trainyard
