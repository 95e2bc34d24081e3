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
    devices, // its sizes do not divide the devices
    batch,   // micro_batch x dp does not divide the batch
    input,   // values that do not fit together
    same,    // another point is the same job
    memory,  // a device has less than it needs
    slower,  // its bound, or its simulation
    engine   // refused when it was to be simulated
};

template <>
std::vector<EnumName<Exclusion>> enum_names<Exclusion>();

// Points by reason, and by the field at fault (RFC 6901) where there is one.
struct ExclusionCount {
    std::uint64_t points = 0;
    std::string example; // what was said of the first; empty where the reason says all
};
using ExclusionCounts = std::map<std::pair<Exclusion, std::string>, ExclusionCount>;

struct PossibleLayout {
    LayoutChoice choice;
    StepBound least;
};

// Left out for memory.
struct LargeLayout {
    LayoutChoice choice;
    Bytes memory; // at least, of the fullest device
};

struct PossibleLayouts {
    std::vector<PossibleLayout> layouts; // in the order of the space
    ExclusionCounts excluded;
    std::optional<LargeLayout> nearest; // to fitting
};

// What the space of a scenario is made from.
struct SearchBase {
    ScenarioFile file;                    // in the fidelity that all points are simulated in
    std::optional<Fidelity> own_fidelity; // that the scenario gives
    Parts parts;                          // with every size one
    SpaceFacts facts;
};

// `room`: what a device may hold. Cancelled by `work`.
PossibleLayouts possible_layouts(const SearchSpace& space, const SearchBase& base, Bytes room,
                                 const WorkControl& work);

} // namespace trainyard
