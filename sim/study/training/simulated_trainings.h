#pragma once

#include "sim/study/training/failure_process.h"

namespace trainyard {

// Many trainings, each with failures of its own.
struct SimulatedTrainings {
    std::vector<Seconds> durations; // ascending
    WallAccount account;            // means
    WallAccount error;              // standard errors of those
    Seconds mean;
    Seconds deviation;
    double failures = 0; // means
    double interruptions = 0;

    // Of the durations; 0.5 is the median. Requires one.
    Seconds quantile(double share) const;
    double share_within(Seconds wall) const;
};

struct TrainingSamples {
    std::size_t count = 1000;
    std::uint64_t seed = 1;
    int threads = 0; // 0: as many as the machine runs at once; the result is the same
};

// As many trainings as take some seconds at most, where each has that many failures.
std::size_t affordable_trainings(double failures, std::size_t wanted);

// Trainings by the rules of failure_process.h, event by event: each failure, restart and repair is
// drawn, nothing is averaged. The steps between two failures take one step of arithmetic.
SimulatedTrainings simulate_trainings(const FailureProcess& process,
                                      const TrainingSamples& samples = {});

} // namespace trainyard
