#pragma once

// The moment of a step at which a rank holds most, and what it holds then.

#include "sim/strategy/memory/host_order.h"

#include <array>

namespace trainyard {

struct LivePeak {
    std::int64_t bytes = 0;            // on the device, what the role always holds included
    MemoryPlace place;                 // of the request that reaches it first
    std::vector<std::int64_t> tensors; // by TensorId: instances that live then, held ones included
};

// In time proportional to the uses of the role's blocks.
LivePeak live_peak(const HostOrder& order, const Role& role);

using KindBytes = std::array<std::int64_t, memory_kind_count>;
KindBytes bytes_by_kind(const Program& program, const std::vector<std::int64_t>& tensors);

} // namespace trainyard
