#pragma once

// The conditions of devices as what their ranks' lanes hold.

#include "sim/program/binding.h"
#include "sim/strategy/conditions.h"

namespace trainyard {

struct RankConditions {
    SimTime start{};
    Stop stop{};
    std::vector<SpeedWindow> windows;
    JitterId jitter{};
    std::vector<SimTime> late;
    std::vector<SimTime> late_input;
};

struct BoundConditions {
    std::vector<Jitter> jitters;
    std::vector<RankConditions> ranks; // empty: no rank has any
};

// Rank i runs on device i; devices without a rank are ignored.
BoundConditions bind_conditions(const Conditions& conditions, std::size_t ranks);

// By rank: equal numbers for conditions that make equal histories. A rank with jitter, which draws
// by its own number, has its own. Empty: all alike.
std::vector<std::uint32_t> condition_colours(const BoundConditions& bound);

void apply(const BoundConditions& bound, Lane& lane);

} // namespace trainyard
