#pragma once

#include "sim/base/units.h"

#include <fmt/core.h>

#include <cmath>
#include <string>

namespace trainyard {

// "12.3 %"; whole per cents from 100 on.
inline std::string percent(double share)
{
    const double value = 100 * share;
    return value < 99.95 ? fmt::format("{:.1f} %", value) : fmt::format("{:.0f} %", value);
}

// "12", "2.5", "18.2 M": small whole numbers stay whole.
inline std::string count_text(double count)
{
    const bool small = count < 1000;
    return small && count == std::floor(count) ? fmt::format("{:.0f}", count)
                                               : to_display_count(count);
}

} // namespace trainyard
