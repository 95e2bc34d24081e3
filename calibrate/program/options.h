#pragma once

// The command line of `trainyard calibrate`.

#include "calibrate/measure/plan/plan.h"
#include "calibrate/measure/statistics/limits.h"
#include "sim/base/diagnostic.h"
#include "sim/cli/exit_codes.h"

#include <optional>
#include <string>

namespace trainyard {

struct CalibrateOptions {
    std::string output;   // profile; empty: only the table
    std::string topology; // file; empty: beside the profile
    std::string samples;  // file; empty: beside the profile
    std::string html;
    std::string tuner;
    std::string check;   // a profile to compare this machine with
    std::string from;    // samples that another run left: nothing is measured
    std::string backend; // empty: NCCL where there are GPUs
    std::string name;
    std::string device;  // a shipped one; empty: as its driver names it
    std::string network; // a shipped one; empty: a usual one
    int ranks = 0;       // 0: all GPUs; of CPUs the cores, at most 8
    int launches = 0;    // 0: 3, quick 1
    std::optional<int> trials;
    double target = 0.05;
    double timeout = 30; // seconds
    std::uint64_t seed = 1;
    bool table = false;
    bool is_rank = false; // started by another one of these
    bool say_backends = false;
    PlanOptions plan;

    Effort effort() const { return plan.quick ? Effort::quick : Effort::full; }
};

// What there is to do instead of measuring: to say something (help, what is wrong), and to exit.
struct ParsedEnd {
    std::string text;
    ExitCode exit = exit_ok; // ok: `text` is what was asked for
};
tl::expected<CalibrateOptions, ParsedEnd> parse_options(int argc, char** argv);

// Of ranks that a launcher started; nothing where -n agrees with it.
std::optional<ParsedEnd> misfit(const CalibrateOptions& options, int ranks_launched);

} // namespace trainyard
