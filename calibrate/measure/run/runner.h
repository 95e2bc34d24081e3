#pragma once

// Times a plan, point by point, with a coordinator's ranks.

#include "calibrate/measure/control/coordinator.h"
#include "calibrate/measure/discover/pair_classes.h"
#include "calibrate/measure/plan/plan.h"
#include "calibrate/measure/run/journal.h"
#include "calibrate/measure/run/time_left.h"
#include "calibrate/measure/statistics/limits.h"

namespace trainyard {

struct RunnerSetup {
    Effort effort = Effort::full;
    std::optional<int> trials; // batches of each point, instead of as many as precision needs
    int launch = 0;
    std::uint64_t seed = 1;
    double target = 0.05;                        // where a curve misses by more, sizes are added
    int rounds = 8;                              // of such additions per curve, at most
    Milliseconds patience{30'000};               // for one command, beside what it should take
    WorkControl control;                         // progress in seconds
    std::chrono::steady_clock::time_point began; // of the progress
    TimeLeft* left = nullptr;                    // of all launches; null: nobody asks
};

// What all ranks say of where they run. Throws RunEnded; MeasureFailure when a back end does not
// open.
std::vector<RankFacts> facts_of(Coordinator& coordinator, int ranks);

// Takes out of the plan what the ranks' back end cannot time, and says so in `left_out`.
void drop_impossible(Coordinator& coordinator, MeasurePlan& plan,
                     std::vector<std::string>& left_out);

// Adds what it measures to `run` and the journal. A point that fails is left out, with the reason;
// a communicator in which more than that is broken is given up. Throws RunEnded, Cancelled.
void measure(Coordinator& coordinator, const MeasurePlan& plan, const RunnerSetup& setup,
             MeasuredRun& run, Journal& journal);

// Times these messages of the plan once more.
void measure_again(Coordinator& coordinator, const MeasurePlan& plan,
                   const std::vector<OrderedPair>& pairs, const RunnerSetup& setup,
                   MeasuredRun& run, Journal& journal);

} // namespace trainyard
