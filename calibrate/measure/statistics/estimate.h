#pragma once

// What a series of batch times says.

#include <cstdint>
#include <string>
#include <vector>

namespace trainyard {

// Of times in seconds, in the order in which they were taken.
struct Estimate {
    double median = 0;
    double low = 0; // 95 % interval of the median by order statistics; too few: the extremes
    double high = 0;
    int outliers = 0; // above median + 6 MAD; they count in everything above
    double drift = 0; // last half's median / first half's - 1, where that is no chance; else 0
    bool multimodal = false; // two or more separate levels

    bool operator==(const Estimate&) const = default;
};

} // namespace trainyard
