#pragma once

// A machine that takes known times for its work and shows them through noise.

#include "sim/base/random.h"

#include <vector>

namespace trainyard {

struct ClockNoise {
    double op = 10e-6;          // seconds, undisturbed
    double batch_overhead = 0;  // seconds that each batch takes beside its ops
    double spread = 0.02;       // of a batch: deviation of the logarithm; its median is 1
    double correlation = 0;     // of that noise between neighbouring batches
    double outlier_share = 0;   // of batches
    double outlier_factor = 10; // that they take longer
    double drift = 0;           // by what share ops take longer after `drift_batches`, linearly
    double drift_batches = 100;
    double second_share = 0;   // of batches that run at the second level
    double second_factor = 1;  // of it
    double warm_up_factor = 1; // by which the very first op takes longer
    double warm_up_ops = 1;    // after which that has fallen to 1 / e of it
    double tick = 0;           // seconds; readings are whole multiples
};

class NoisyClock {
public:
    NoisyClock(const ClockNoise& noise, std::uint64_t seed)
        : noise_(noise), random_(hash_key(seed, 0)), state_(random_.normal())
    {}

    // Seconds per op of a batch, as a back end gives them.
    double batch(int ops);
    std::vector<double> batches(int count, int ops);

    double elapsed() const { return elapsed_; } // seconds of all batches

private:
    ClockNoise noise_;
    Random random_;
    double state_; // of the correlated noise, in deviations
    double ops_ = 0;
    double batches_ = 0;
    double elapsed_ = 0;
};

} // namespace trainyard
