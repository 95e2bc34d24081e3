#pragma once

// Sizes in four bands: collectives behave, err and are judged differently in each.

#include "sim/base/quantity.h"

#include <array>
#include <cstdint>
#include <string_view>

namespace trainyard {

// Small sizes are all latency, large ones all bandwidth; algorithms switch in the third.
enum class SizeBand : std::uint8_t { up_to_64k, up_to_1m, up_to_16m, above };

inline constexpr std::array<SizeBand, 4> size_bands{SizeBand::up_to_64k, SizeBand::up_to_1m,
                                                    SizeBand::up_to_16m, SizeBand::above};

constexpr SizeBand band_of(Bytes size)
{
    if (size.value() <= (64U << 10))
        return SizeBand::up_to_64k;
    if (size.value() < (1U << 20))
        return SizeBand::up_to_1m;
    return size.value() <= (16U << 20) ? SizeBand::up_to_16m : SizeBand::above;
}

constexpr std::string_view title_of(SizeBand band)
{
    switch (band) {
    case SizeBand::up_to_64k:
        return "<= 64 KiB";
    case SizeBand::up_to_1m:
        return "64 KiB - 1 MiB";
    case SizeBand::up_to_16m:
        return "1 - 16 MiB";
    case SizeBand::above:
        break;
    }
    return "> 16 MiB";
}

constexpr std::size_t index_of(SizeBand band)
{
    return static_cast<std::size_t>(band);
}

} // namespace trainyard
