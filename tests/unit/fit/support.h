#pragma once

// Sweeps made of formulas.

#include "calibrate/import/sweep.h"

#include <functional>

namespace trainyard {

// Sizes from `first` in powers of two, `count` of them, the time of each by `seconds`.
inline Sweep made_sweep(std::uint64_t first, int count,
                        const std::function<double(double)>& seconds)
{
    Sweep out;
    out.source = "made";
    out.ranks = 8;
    for (int i = 0; i < count; ++i) {
        const std::uint64_t size = first << i;
        SweepRow row;
        row.size = Bytes(size);
        row.out_of_place = SweepTiming{};
        row.out_of_place->time = Seconds(seconds(static_cast<double>(size)));
        row.in_place = row.out_of_place;
        out.rows.push_back(row);
    }
    return out;
}

} // namespace trainyard
