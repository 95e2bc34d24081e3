#pragma once

// The points of a space that may be: sizes that fit, memory that may suffice, each with the least
// that its step takes. The rest is counted by reason.

#include "sim/strategy/bound/step_bound.h"
#include "sim/study/search/search_space.h"
#include "sim/study/stages.h"

#include <map>

namespace trainyard {

// Why a point is none of the best.
enum class Exclusion : std::uint8_t {
    devices,   // its sizes do not divide the devices
    batch,     // micro_batch x dp does not divide the batch
    input,     // values that do not fit together
    framework, // what the scenario's does not start
    same,      // another point is the same job
    memory,    // a device has less than it needs
    slower,    // its bound, or its simulation
    engine     // refused when it was to be simulated
};

template <>
std::vector<EnumName<Exclusion>> enum_names<Exclusion>();

// Points by reason, and by the field at fault (RFC 6901) where there is one.
struct ExclusionCount {
    std::uint64_t points = 0;
    std::string example;     // what was said of the first; empty where the reason says all
    std::uint64_t first = 0; // its number in the space
};
using ExclusionCounts = std::map<std::pair<Exclusion, std::string>, ExclusionCount>;

struct PossibleLayout {
    LayoutChoice choice;
    StepBound least;
    std::uint64_t number = 0; // in the space
};

// Left out for memory.
struct LargeLayout {
    LayoutChoice choice;
    Bytes memory;             // at least, of the fullest device
    std::uint64_t number = 0; // in the space
};

struct PossibleLayouts {
    std::vector<PossibleLayout> layouts; // in the order of the space
    ExclusionCounts excluded;
    std::optional<LargeLayout> nearest; // to fitting
    bool whole = true;                  // else it was cancelled on the way

    std::uint64_t points() const; // that are looked at
};

// A share of a space: what many points have in common is dealt out in turn, so that shares take
// about as long as each other and hold points of all kinds. Shares of all lanes of all shards are
// the space, whatever the number of lanes.
struct SpaceShare {
    int shard = 0; // from 0 on
    int shards = 1;
    int lane = 0; // of a shard, from 0 on
    int lanes = 1;
};

// What the space of a scenario is made from.
struct SearchBase {
    ScenarioFile file;                    // in the fidelity that all points are simulated in
    std::optional<Fidelity> own_fidelity; // that the scenario gives
    Parts parts;                          // with every size one
    SpaceFacts facts;
};

// `room`: what a device may hold. Where `work` is cancelled, what is known so far. `work` counts
// the points of the space.
PossibleLayouts possible_layouts(const SearchSpace& space, const SearchBase& base, Bytes room,
                                 const WorkControl& work, const SpaceShare& share = {});

// The same of so many lanes from `share`'s on, a thread each.
PossibleLayouts possible_layouts(const SearchSpace& space, const SearchBase& base, Bytes room,
                                 const WorkControl& work, const SpaceShare& share, int threads);

// What was found in several shares, as if in one.
PossibleLayouts together(std::vector<PossibleLayouts> parts);

} // namespace trainyard
