#pragma once

// One point: prepared, checked, sampled until it is precise enough.

#include "calibrate/measure/control/coordinator.h"
#include "calibrate/measure/samples.h"
#include "calibrate/measure/statistics/limits.h"

namespace trainyard {

// A communicator that the coordinator's ranks have made.
struct OpenGroup {
    const GroupSpec* spec = nullptr;
    int number = 0;
};

struct PointSetup {
    Effort effort = Effort::full;
    std::optional<int> trials;
    int launch = 0;
    Milliseconds patience{30'000};
};

// Throws MeasureFailure (the point's; refused: only this one, else the communicator is suspect),
// RunEnded, Cancelled. The point's work is what was timed: fitted to the group.
MeasuredPoint measure_point(Coordinator& coordinator, const OpenGroup& group, const TimedWork& work,
                            const PointSetup& setup);

// The seconds that one op of `kernel` and of `collective` takes alone, for what is timed beside.
struct AloneTimes {
    double collective = 0;
    double local = 0;
};
MeasuredPoint measure_beside(Coordinator& coordinator, const OpenGroup& group,
                             const BesideWork& work, const AloneTimes& alone,
                             const PointSetup& setup);

} // namespace trainyard
