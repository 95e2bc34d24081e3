#pragma once

#include "tests/validation/loop/training.h"

#include <optional>
#include <string>

namespace trainyard::loop {

struct LoopOptions {
    TrainingPlan plan;
    int ranks = 2;     // that are started; under mpirun it says how many
    int limit = 120;   // seconds until a rank ends itself
    int rank = -1;     // of ranks that are started one by one: this one's number,
    std::string store; // and a folder that they all see
};

// Empty: the program ends, with `exit` (help was printed, or what is wrong).
struct ParsedLoopOptions {
    std::optional<LoopOptions> options;
    int exit = 0;
};
ParsedLoopOptions parse_loop_options(int argc, char** argv);

} // namespace trainyard::loop
