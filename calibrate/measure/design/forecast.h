#pragma once

// How long points will take: for the progress bar and the time left.

#include "calibrate/measure/samples.h"
#include "calibrate/measure/statistics/limits.h"

#include <map>
#include <string>

namespace trainyard {

// Seconds that the sampler spends on ops of this length: warm-up, one and a half times the least
// number of batches (as typical noise has it) and isolated ops, none longer than `limits` let them.
Seconds expected_sampling(const Limits& limits, Seconds per_op);

// Of a run under way. What was measured corrects it twice: the time of an op, by the measured point
// most like it (same group and kind, else same kind, else any; then nearest in amount of work), and
// the time of a point beside its ops, by how much longer points took than expected.
//
// Before anything is measured the time of an op is 20 us + 1 s per GB (of messages), 5 us + 0.1 s
// per GB (of a device's memory) or 5 us + 1 s per TFLOP: between CPU and GPU, up to twenty times
// off either way. Making a communicator is taken to need 0.2 s.
class Forecast {
public:
    explicit Forecast(Effort effort, std::optional<int> trials = {})
        : effort_(effort), trials_(trials)
    {}

    // What a point took: `per_op` its median, `took` all of it, preparation included.
    void learn(const Point& point, Seconds per_op, Seconds took);
    void learn(const CreationTime& creation);

    Seconds of(const Point& point) const;

    // In this order: a communicator is made where the group or the launch changes.
    Seconds of(std::span<const Point> points) const;

private:
    struct Learned {
        GroupSpec group;
        double amount = 0; // of work
        double slower = 1; // than the first guess of an op
    };

    Seconds per_op(const Point& point) const;
    Seconds sampling(const Point& point, Seconds per_op) const;
    Seconds creation(const GroupSpec& group) const;

    Effort effort_;
    std::optional<int> trials_;
    std::map<std::string, std::vector<Learned>> ops_; // by kind, the last of each group and amount
    std::vector<double> longer_;                      // points, as measured over as expected
    double usual_ = 1;                                // of them, the median
    std::vector<CreationTime> creations_;
};

} // namespace trainyard
