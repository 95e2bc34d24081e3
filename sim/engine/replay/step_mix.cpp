#include "sim/engine/replay/step_mix.h"

#include <algorithm>

namespace trainyard::engine::replay {

namespace {

// Whether a transfer of that stream may still move two steps later, when `compute` starts. What is
// over of the step between knows of transfers, and where some of those are of the same stream, the
// step before that is through with it.
bool may_still_move(const LaneKind& kind, const Known& known,
                    const std::vector<std::uint8_t>& slows, std::size_t transfers,
                    std::uint32_t compute)
{
    const std::uint32_t first = kind.streams[transfers].op_first;
    std::uint32_t count = kind.streams[transfers].op_count; // up to the last that slows
    while (count > 0 && slows[first + count - 1] == 0)
        --count;
    const auto between = known.before_at_start(compute);
    if (count == 0 || between[transfers] > 0)
        return false;
    for (std::size_t s = 0; s < kind.streams.size(); ++s)
        if (between[s] > 0 &&
            known.before_at_start(kind.streams[s].op_first + between[s] - 1)[transfers] >= count)
            return false;
    return true;
}

} // namespace

bool steps_interfere(const LaneKind& kind, const Known& known,
                     const std::vector<std::uint8_t>& slows)
{
    for (std::size_t s = 0; s < kind.streams.size(); ++s) {
        const StreamPlan& stream = kind.streams[s];
        if (stream.kind != StreamKind::communication)
            continue;
        // Those behind the first of a stream know at least as much.
        const auto first = std::find(slows.begin() + stream.op_first,
                                     slows.begin() + stream.op_first + stream.op_count, 1);
        if (first == slows.begin() + stream.op_first + stream.op_count)
            continue;
        const auto over = known.before_at_start(static_cast<std::uint32_t>(first - slows.begin()));
        for (std::uint32_t o = 0; o < kind.ops.size(); ++o)
            if (kind.ops[o].kind == OpKind::compute && !known.over(over, o))
                return true;
    }
    return false;
}

bool outlasts_a_step(const LaneKind& kind, const Known& known,
                     const std::vector<std::uint8_t>& slows)
{
    for (std::size_t c = 0; c < kind.streams.size(); ++c) {
        const auto first = kind.ops.begin() + kind.streams[c].op_first;
        const auto last = first + kind.streams[c].op_count;
        // Those behind the first of a stream know at least as much.
        const auto compute =
            std::find_if(first, last, [](const FlatOp& op) { return op.kind == OpKind::compute; });
        if (compute == last)
            continue;
        const auto op = static_cast<std::uint32_t>(compute - kind.ops.begin());
        for (std::size_t s = 0; s < kind.streams.size(); ++s)
            if (s != c && kind.streams[s].kind == StreamKind::communication &&
                may_still_move(kind, known, slows, s, op))
                return true;
    }
    return false;
}

} // namespace trainyard::engine::replay
