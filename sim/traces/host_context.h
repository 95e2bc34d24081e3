#pragma once

// What the host was at when it launched: the nesting of its ops tells the phase of a step, the
// shapes of a product and the collective that a kernel belongs to.

#include "sim/traces/rank_trace.h"

namespace trainyard {

// Of a device event, as far as the host's side was recorded.
struct LaunchContext {
    std::optional<TraceTime> issued; // the launching call returned, or the op began before that
    std::optional<TraceSpan> call;   // that launched it
    Phase phase = Phase::other;
    TraceNameId op;            // the innermost op with shapes
    TraceNameId shapes;        // of its inputs
    TraceNameId types;         // of its inputs
    std::uint32_t message = 0; // as in DeviceEvent, from the ops around
};

// One for each device event. Phases: what autograd's engine runs is backward, what it computes
// again for a checkpoint recompute, what DDP copies gradient_sync, what an optimizer's step
// launches optimizer, all else forward; `other` where the host's ops were not recorded. n log n in
// the host's events.
std::vector<LaunchContext> launch_contexts(const RankTrace& trace);

} // namespace trainyard
