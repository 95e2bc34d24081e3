#pragma once

// GPUs that compute slower than their like, and ranks that others wait for.

#include "calibrate/measure/discover/verdict.h"
#include "calibrate/measure/samples.h"

namespace trainyard {

// What one device reached at the same work as the others.
struct DeviceRate {
    std::string name;  // "GPU 3"
    std::string model; // like is compared with like
    double rate = 0;   // of any unit, the more the better; 0: not measured
};

// Slow GPUs by compute: the rule for links, tighter, since sound GPUs of one model agree better.
inline constexpr SlowRule compute_rule{0.95, 3};
std::vector<SlowVerdict> slow_devices(const std::vector<DeviceRate>& rates,
                                      const SlowRule& rule = compute_rule);

// Ranks that were the last in most batches of most points: in 2/3 of at least 5 points in which
// they took part, in more batches than midway between chance (1/n) and always. By how much is not
// said: a rank that is late by little is last as often.
std::vector<std::string> stragglers(const std::vector<MeasuredPoint>& points);

} // namespace trainyard
