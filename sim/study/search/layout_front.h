#pragma once

// The layouts that none is both quicker and smaller than.

#include "sim/study/search/points.h"

#include <span>

namespace trainyard {

struct FrontLayout {
    LayoutChoice choice;
    Seconds step_time;
    Bytes memory; // reserved on the fullest device

    bool operator==(const FrontLayout&) const = default;
};

struct LayoutFront {
    std::vector<FrontLayout> layouts; // the quickest per sequence first, each smaller than the last
    std::uint64_t open = 0;           // not looked at: it was cancelled
};

// Times are compared per sequence. A point whose bounds of time and memory are those of a found one
// or worse is not run, since it is no better in truth; so the front is that of all `layouts`, and
// the same for any number of threads: of equal points the first in the space counts.
LayoutFront layout_front(std::span<const PossibleLayout> layouts, Bytes room,
                         const WorkControl& work, Points& points);

} // namespace trainyard
