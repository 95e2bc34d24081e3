#pragma once

#include "sim/base/units.h"

#include <fmt/core.h>

#include <cmath>
#include <cstdint>
#include <string>

namespace trainyard {

// The same, without the sign of what one decimal shows as zero: no "-0.0".
inline double without_zeros_sign(double value)
{
    return std::abs(value) < 0.05 ? 0.0 : value;
}

// "12.3 %"; whole per cents from 100 on.
inline std::string percent(double share)
{
    const double value = without_zeros_sign(100 * share);
    return value < 99.95 ? fmt::format("{:.1f} %", value) : fmt::format("{:.0f} %", value);
}

// "12", "2.5", "18.2 M": small whole numbers stay whole.
inline std::string count_text(double count)
{
    const bool small = count < 1000;
    return small && count == std::floor(count) ? fmt::format("{:.0f}", count)
                                               : to_display_count(count);
}

// "138,240"
inline std::string grouped(std::uint64_t number)
{
    std::string digits = std::to_string(number);
    for (std::size_t at = digits.size(); at > 3;)
        digits.insert(at -= 3, ",");
    return digits;
}

} // namespace trainyard
