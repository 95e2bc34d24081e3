#pragma once

// What sound members of a class reach, and which are slow.

#include <cstddef>
#include <vector>

namespace trainyard {

// Slow: below `share` of the class's median and more than `deviations` MADs under it.
struct SlowRule {
    double share = 0.9;
    double deviations = 3;

    bool operator==(const SlowRule&) const = default;
};

// A class is taken at its sound level: where its values fall apart by more than 1 - share, the
// highest part with at least a quarter of them (and two values, or one of two) is sound and gives
// median and MAD. So half a class may be slow, as when one of two switches is. Values that do not
// fall apart are all sound.
struct ClassLevel {
    double median = 0;
    double deviation = 0; // MAD
    std::size_t sound = 0;
    std::size_t cells = 0;

    bool operator==(const ClassLevel&) const = default;
};

// Requires a value.
ClassLevel level_of(std::vector<double> values, const SlowRule& rule);

// A value alone in its class is never slow: nothing shows what it should be.
bool is_slow(double value, const ClassLevel& level, const SlowRule& rule);

} // namespace trainyard
