#pragma once

// The distribution of the step time over seeds.

#include "sim/base/progress.h"
#include "sim/base/quantity.h"

#include <vector>

namespace trainyard {

struct Parts;
struct Scenario;

struct Samples {
    std::uint64_t first_seed = 1;
    std::vector<SimTime> step_times; // of seeds first_seed, first_seed + 1, ...

    bool operator==(const Samples&) const = default;
};

// The time below which a share `q` of the samples lies: linear between the ordered ones. Requires
// 0 <= q <= 1 and a sample.
Seconds quantile(const Samples& samples, double q);
Seconds mean(const Samples& samples);

// How many samples fall into each of `bins` equal parts of [least, most]; all into the first when
// they are equal. Requires a sample.
std::vector<int> histogram(const Samples& samples, int bins);

} // namespace trainyard
