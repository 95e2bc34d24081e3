#pragma once

// One run of `calibrate`: ranks started, the plan timed, what was measured kept.

#include "calibrate/measure/control/launch.h"
#include "calibrate/measure/discover/cluster.h"
#include "calibrate/measure/samples.h"
#include "calibrate/program/options.h"
#include "sim/cli/exit_codes.h"

#include <filesystem>

namespace trainyard {

struct SessionResult {
    MeasuredRun run;
    std::filesystem::path journal; // of everything measured; empty: none
    std::optional<DiscoveredCluster>
        machine;             // the ranks' hosts; at first only that of this process
    ExitCode exit = exit_ok; // of a run that ended early, why
};

// What the command asks for is not to be had from these ranks: nothing was measured.
struct UnfitRequest {
    std::string message;
    std::string fix; // empty: none is known
};

// Measures with ranks that it starts itself, or those of the job whose rank 0 this process is.
// Throws UnfitRequest, MeasureFailure where nothing can be measured at all, WorldError.
SessionResult measure_here(const CalibrateOptions& options, const std::optional<JobLaunch>& job);

// As a rank that another process of this program started, or a launcher with rank above 0.
int serve(const std::string& backend, const std::optional<JobLaunch>& job);

} // namespace trainyard
