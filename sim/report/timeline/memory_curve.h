#pragma once

// What a device holds over a step, as its allocator counts, along the step's simulated time.
//
// The order is that of the host's requests, by which memory.h finds the peak: so both agree. The
// host runs ahead of the device; a request is shown when the compute stream comes to where it was
// made, since only from there on can memory that was given back be used again. Requests of other
// streams' ops are shown at the end of the compute op issued before, those of one op of several
// kernels spread evenly over it.

#include "sim/strategy/memory/host_order.h"
#include "sim/strategy/memory/live_peak.h"
#include "sim/study/outcome.h"

#include <optional>

namespace trainyard {

struct HeldBytes {
    SimTime time;
    std::int64_t bytes = 0; // of the device, from here on
    KindBytes kinds{};      // of named tensors
    MemoryPlace place;      // of the request

    bool operator==(const HeldBytes&) const = default;
};

struct MemoryCurve {
    // In the order of the requests, times never falling; several may share one. The first is the
    // step's begin, the last its end. Empty: the lane's step was not recorded whole.
    std::vector<HeldBytes> points;
    std::size_t peak = 0; // the first that holds most

    bool operator==(const MemoryCurve&) const = default;
};

// Of a recorded step of a lane, the last by default. Communicators, context and the workspace of
// libraries are in it all the time; what the allocator reserves without use is not.
MemoryCurve memory_curve(const Outcome& outcome, LaneId lane,
                         std::optional<std::uint16_t> step = {});

struct LaneMemory {
    LaneId lane;
    std::vector<HeldBytes> points;
};

// The curves of all lanes that have records.
std::vector<LaneMemory> memory_of_lanes(const Outcome& outcome);

} // namespace trainyard
