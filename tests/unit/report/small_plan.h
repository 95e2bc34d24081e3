#pragma once

// What the small job (small_outcome.h) consists of before it runs.

#include "sim/program/binding.h"
#include "sim/strategy/plan.h"
#include "sim/topology/topology.h"

namespace trainyard::test {

enum class Lanes {
    all,    // one per rank: 0 and 1 are stage 0
    folded, // one per stage, standing for two ranks each
};

inline constexpr Bytes gradient_bytes{1'000'000'000};
inline constexpr Bytes message_bytes{40'000'000};

inline constexpr StreamId compute_stream{1};
inline constexpr StreamId dp_stream{2};
inline constexpr StreamId pp_stream{3};

constexpr SimTime ms(std::int64_t value)
{
    return SimTime(value * 1'000'000'000);
}

// Nodes of two GPUs.
Topology small_cluster(int nodes);

Plan small_plan();
Binding small_binding(Lanes lanes);

} // namespace trainyard::test
