#pragma once

// Compute ops of a stream that follow one another while nobody else has to know.
//
// When an op starts whose end no other op waits for, and the next one has all it waits for and will
// have been issued, then that one starts where the first ends, whatever happens meanwhile. Such a
// chain is one event, at the end of its last op; whoever charges the lane's time or finishes the
// chain takes its ops one by one. Only where nothing can slow compute.

#include "sim/engine/host_issue.h"

namespace trainyard::engine {

// When the compute, copy or host op at the head of a stream ends, by its marks.
inline SimTime end_of(const StreamState& stream)
{
    return std::max(stream.mark, stream.second_mark);
}

// Sets the marks of such an op that starts then, alone on the device.
inline void set_marks(const RunState& run, std::uint32_t lane, StreamState& stream, SimTime start)
{
    const LaneKind& kind = run.kind_of(lane);
    const LaneState& state = run.lanes[lane];
    const FlatOp& op = kind.ops[stream.head];
    const SimTime duration = run.duration_of(lane, op, stream.step);
    // Behind a barrier the host has issued everything before it, and long enough ago.
    const bool issued = op.kind == OpKind::host || op.by_itself ||
                        state.host_segment > barriers_before(kind, op, stream.step);
    stream.start = start;
    stream.mark = start + duration;
    stream.second_mark =
        issued
            ? start
            : earliest_end(op, issue_time(run, lane, op, stream.step, state.host_base), duration);
}

// The op at the head has ended, the next of its chain goes on.
inline void go_on(const RunState& run, std::uint32_t lane, StreamState& stream)
{
    const SimTime start = end_of(stream);
    ++stream.head;
    ++stream.done;
    --stream.chained;
    stream.phase = run.kind_of(lane).ops[stream.head].phase;
    set_marks(run, lane, stream, start);
}

// Finds the chain that the op that starts at the head of `stream` leads; its end.
SimTime begin_chain(RunState& run, std::uint32_t lane, std::uint32_t stream);

} // namespace trainyard::engine
