#include "calibrate/measure/discover/class_level.h"

#include "calibrate/fit/order_statistics.h"

#include <algorithm>
#include <cmath>

namespace trainyard {

ClassLevel level_of(std::vector<double> values, const SlowRule& rule)
{
    std::sort(values.begin(), values.end());
    const std::size_t count = values.size();
    const std::size_t fewest = std::max<std::size_t>(count <= 2 ? 1 : 2, (count + 3) / 4);
    std::size_t first = 0; // of the sound ones
    for (std::size_t i = count > fewest ? count - fewest : 0; i > 0; --i)
        if (values[i - 1] < rule.share * values[i]) {
            first = i;
            break;
        }
    const std::vector<double> sound(values.begin() + static_cast<std::ptrdiff_t>(first),
                                    values.end());
    ClassLevel level;
    level.median = median(sound);
    level.sound = sound.size();
    level.cells = count;
    std::vector<double> distances;
    for (const double value : sound)
        distances.push_back(std::abs(value - level.median));
    level.deviation = median(distances);
    return level;
}

bool is_slow(double value, const ClassLevel& level, const SlowRule& rule)
{
    return level.cells > 1 && value < rule.share * level.median &&
           value < level.median - rule.deviations * level.deviation;
}

} // namespace trainyard
