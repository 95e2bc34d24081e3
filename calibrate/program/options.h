#pragma once

// The command line of `trainyard calibrate`.

#include "calibrate/measure/plan/plan.h"
#include "calibrate/measure/statistics/limits.h"

#include <optional>
#include <string>

namespace trainyard {

struct CalibrateOptions {
    std::string output;   // profile; empty: only the table
    std::string topology; // file; empty: beside the profile
    std::string html;
    std::string tuner;
    std::string check;   // a profile to compare this machine with
    std::string from;    // samples that another run left: nothing is measured
    std::string backend; // empty: NCCL where there are GPUs
    std::string name;
    int ranks = 0;    // 0: all GPUs; of CPUs the cores, at most 8
    int launches = 0; // 0: 3, quick 1
    std::optional<int> trials;
    double target = 0.05;
    double timeout = 30; // seconds
    std::uint64_t seed = 1;
    bool table = false;
    bool is_rank = false; // started by another one of these
    PlanOptions plan;

    Effort effort() const { return plan.quick ? Effort::quick : Effort::full; }
};

// Of the arguments, or the code to exit with when there is nothing to do (help, a usage error).
struct ParsedOptions {
    CalibrateOptions options;
    std::optional<int> exit;
};
ParsedOptions parse_options(int argc, char** argv);

} // namespace trainyard
