#pragma once

// When the host issues an op.
//
// The host runs through its program without looking at the device, except at barriers: host ops and
// ops that block it. Between two barriers its clock is the time it left the last one plus the issue
// time of the kernels since. So a lane needs no queue of issued ops: the number of barriers it has
// passed and the time of the last tell all.

#include "sim/engine/state.h"

#include <algorithm>
#include <utility>

namespace trainyard::engine {

// Barriers that the host must have passed before it comes to this op.
inline std::uint32_t barriers_before(const LaneKind& kind, const FlatOp& op, std::uint32_t step)
{
    return step * kind.host.barriers + op.segment;
}

// When the op may start, as far as the host goes. Requires the host to be in the op's segment.
inline SimTime issue_time(const LaneKind& kind, const FlatOp& op, std::uint32_t step,
                          SimTime segment_began)
{
    SimTime earlier_steps{};
    if (op.segment == 0 && step > 0)
        earlier_steps = kind.host.barriers > 0 ? kind.host.after_last
                                               : kind.host.after_last * std::int64_t{step};
    return segment_began + earlier_steps + op.issue_offset;
}

// What the lane's late steps add to the host's clock since the segment of `op` began. Every step
// begins in segment 0; without barriers that segment is all steps. At most `longest_sim_time`.
inline SimTime late_before(const Lane& lane, const LaneKind& kind, const FlatOp& op,
                           std::uint32_t step)
{
    SimTime sum{};
    if (op.segment > 0)
        return sum;
    const std::size_t known = std::min<std::size_t>(lane.late.size(), std::size_t{step} + 1);
    for (std::size_t k = kind.host.barriers > 0 ? step : 0; k < known; ++k)
        sum = std::min(longest_sim_time, sum + lane.late[k]);
    return sum;
}

// When the op may start on its lane, as far as the host goes. Requires the host to be in the op's
// segment, or the time at which it was.
inline SimTime issue_time(const RunState& run, std::uint32_t lane, const FlatOp& op,
                          std::uint32_t step, SimTime segment_began)
{
    const LaneKind& kind = run.kind_of(lane);
    const SimTime time = issue_time(kind, op, step, segment_began);
    return run.lanes[lane].plain ? time
                                 : time + late_before(run.binding.lanes[lane], kind, op, step);
}

inline IssuePlace place_of(const FlatOp& op, std::uint32_t step)
{
    return {step, op.order};
}

// The first op of a stream that does not fit into its launch queue now, behind the op that runs. A
// queue that is full has held up the host before; that it may come back later than its clock says
// is left out: it is a queue's length ahead then.
inline IssuePlace first_without_room(const RunState& run, std::uint32_t index)
{
    const StreamState& stream = run.streams[index];
    const StreamPlan& plan = run.plan_of(index);
    const bool by_host = plan.kind != StreamKind::worker && plan.kind != StreamKind::host;
    std::uint32_t room = run.binding.costs.launch_queue;
    if (!by_host || room == endless_queue || stream.state == HeadState::finished)
        return {};
    const LaneKind& kind = run.kind_of(run.lane_of(index));
    bool runs = stream.state == HeadState::running || stream.state == HeadState::host_limited ||
                stream.state == HeadState::joined || stream.state == HeadState::endless;
    std::uint32_t at = stream.head;
    for (std::uint32_t step = stream.step; step < run.steps; ++step, at = plan.op_first)
        for (; at < plan.op_first + plan.op_count; ++at) {
            const FlatOp& op = kind.ops[at];
            if (std::exchange(runs, false))
                continue;
            if (op.kernels > room)
                return place_of(op, step);
            room -= op.kernels;
        }
    return {};
}

// The earliest end of a compute or copy op whose first kernel is issued at `issued`: one mean
// kernel time after its last kernel.
inline SimTime earliest_end(const FlatOp& op, SimTime issued, SimTime duration)
{
    if (op.kernels == 0)
        return issued;
    return issued + op.issue_rest + duration / std::int64_t{op.kernels};
}

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

} // namespace trainyard::engine
