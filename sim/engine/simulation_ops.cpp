#include "sim/engine/host_issue.h"
#include "sim/engine/simulation.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace trainyard::engine {

// Something happens on the lane now: accounts for the time until now and has the lane looked at.
void Simulation::touch(std::uint32_t lane)
{
    LaneState& state = run_.lanes[lane];
    if (state.last < run_.now) {
        if (state.measured)
            accounting_.charge(lane);
        state.last = run_.now;
    }
    if (!state.dirty) {
        state.dirty = true;
        dirty_.push_back(lane);
    }
}

// Starts what may start on the lane now.
void Simulation::look_at(std::uint32_t lane)
{
    const auto streams = static_cast<std::uint32_t>(run_.kind_of(lane).streams.size());
    std::uint32_t left = std::exchange(run_.lanes[lane].to_look_at, 0);
    for (; left != 0; left &= left - 1)
        for (auto s = static_cast<std::uint32_t>(std::countr_zero(left)); s < streams; s += 32)
            look_at(lane, run_.stream_index(lane, s));
}

// Starts the head of a stream if it can.
void Simulation::look_at(std::uint32_t lane, std::uint32_t index)
{
    StreamState& stream = run_.streams[index];
    if (stream.state == HeadState::waits_for_op && !released(lane, index))
        return;
    if (stream.state != HeadState::unchecked && stream.state != HeadState::waits_for_host &&
        stream.state != HeadState::waits_for_op)
        return;
    const FlatOp& op = run_.kind_of(lane).ops[stream.head];
    if (may_start(lane, index, op))
        start(lane, index, op);
}

// Whether the op that the head waits for has finished; else it is looked at again when it has.
bool Simulation::released(std::uint32_t lane, std::uint32_t index)
{
    const StreamState& stream = run_.streams[index];
    const std::uint32_t first = run_.stream_index(lane, 0);
    StreamState& other = run_.streams[first + stream.blocking_stream];
    if (other.done >= stream.blocking_count)
        return true;
    other.waiters |= stream_bit(index - first);
    other.release_at = std::min(other.release_at, stream.blocking_count);
    return false;
}

// Whether waits are over and the host has come; else notes what is missing.
bool Simulation::may_start(std::uint32_t lane, std::uint32_t index, const FlatOp& op)
{
    const LaneKind& kind = run_.kind_of(lane);
    StreamState& stream = run_.streams[index];
    for (; stream.waits_passed < op.wait_count; ++stream.waits_passed) {
        const StepWait& wait = kind.waits[op.wait_first + stream.waits_passed];
        if (wait.previous_step && stream.step == 0)
            continue;
        stream.blocking_stream = wait.stream;
        stream.blocking_count = kind.done_after(wait, stream.step);
        if (!released(lane, index)) {
            stream.state = HeadState::waits_for_op;
            return false;
        }
    }
    if (op.by_itself)
        return issued_by(run_.binding.lanes[lane].start, index);
    if (op.kind == OpKind::host && stopped(lane)) {
        stream.state = HeadState::unissued;
        return false;
    }
    const LaneState& state = run_.lanes[lane];
    const std::uint32_t barriers = barriers_before(kind, op, stream.step);
    if (state.host_segment < barriers) {
        stream.state = HeadState::waits_for_host;
        return false;
    }
    if (state.host_segment > barriers)
        return true; // issued before the host's last barrier
    return issued_by(issue_time(run_, lane, op, stream.step, state.host_base), index);
}

// Whether that time has come; else the stream is looked at again when it does.
bool Simulation::issued_by(SimTime issued, std::uint32_t index)
{
    StreamState& stream = run_.streams[index];
    const std::uint32_t lane = run_.lane_of(index);
    if (!run_.lanes[lane].plain) {
        const Stop& stop = run_.binding.lanes[lane].stop;
        const FlatOp& op = run_.head(index);
        const bool beyond =
            issued >= stop.at || place_of(op, stream.step) >= run_.lanes[lane].issue_limit;
        if (stop.ever() && beyond && !op.by_itself) {
            stream.state = HeadState::unissued;
            return false;
        }
    }
    if (issued <= run_.now)
        return true;
    stream.state = HeadState::waits_for_issue;
    queue_.push({issued, index, stream.version});
    return false;
}

void Simulation::start(std::uint32_t lane, std::uint32_t index, const FlatOp& op)
{
    StreamState& stream = run_.streams[index];
    stream.start = run_.now;
    stream.mark = run_.now;
    stream.kind = op.kind;
    stream.phase = op.phase;
    if (op.kind == OpKind::collective || op.kind == OpKind::exchange)
        join(lane, index, op);
    else
        start_timed(lane, index, op);
}

// Compute, copy, host.
void Simulation::start_timed(std::uint32_t lane, std::uint32_t index, const FlatOp& op)
{
    StreamState& stream = run_.streams[index];
    stream.state = HeadState::running;
    set_marks(run_, lane, stream, run_.now);
    if (op.kind != OpKind::compute)
        return push_end(index, end_of(stream));
    LaneState& state = run_.lanes[lane];
    ++state.computing;
    if (rates_.slows_compute() && stream.mark > run_.now)
        return rates_.start_compute(index, stream.mark - run_.now);
    push_end(index, end_of(stream));
}

// Compute that others could slow has drained; its last kernels may not be issued yet.
void Simulation::device_done(std::uint32_t index)
{
    StreamState& stream = run_.streams[index];
    touch(run_.lane_of(index));
    rates_.end_compute(index);
    const bool all_issued =
        run_.lanes[run_.lane_of(index)].plain || !endless(run_.lane_of(index), index, run_.now);
    if (stream.second_mark <= run_.now && all_issued)
        return finish(index);
    stream.mark = run_.now;
    stream.state = HeadState::host_limited;
    push_end(index, stream.second_mark);
}

// The head of a stream has finished.
void Simulation::finish(std::uint32_t index)
{
    const std::uint32_t lane = run_.lane_of(index);
    touch(lane);
    const FlatOp& op = run_.head(index);
    LaneState& state = run_.lanes[lane];
    if (op.kind == OpKind::collective || op.kind == OpKind::exchange)
        finish_transfer_op(lane, index, op);
    else if (recorder_.wants(lane))
        recorder_.add(index, run_.streams[index].start, Bytes(0), LaneId::none());
    if (op.kind == OpKind::compute)
        --state.computing;
    if (op.ends_segment) {
        ++state.host_segment;
        state.to_look_at = ~0U;
        state.host_base = run_.now;
        recorder_.host_segment(lane);
    }
    next_head(lane, index);
}

void Simulation::next_head(std::uint32_t lane, std::uint32_t index)
{
    StreamState& stream = run_.streams[index];
    ++ops_;
    ++stream.done;
    ++stream.version;
    stream.waits_passed = 0;
    stream.state = HeadState::unchecked;
    std::uint32_t& to_look_at = run_.lanes[lane].to_look_at;
    to_look_at |= stream_bit(index - run_.stream_index(lane, 0));
    if (stream.done >= stream.release_at) {
        to_look_at |= std::exchange(stream.waiters, 0);
        stream.release_at = nobody;
    }
    const StreamPlan& plan = run_.plan_of(index);
    if (++stream.head == plan.op_first + plan.op_count) {
        const std::uint32_t step = stream.step;
        stream.head = plan.op_first;
        if (++stream.step == run_.steps)
            stream.state = HeadState::finished;
        if (--streams_left_[lane * run_.steps + step] == 0)
            end_of_step(lane, step);
    }
}

// The last op of a lane's step has finished.
void Simulation::end_of_step(std::uint32_t lane, std::uint32_t step)
{
    step_ends_[step] = std::max(step_ends_[step], run_.now);
    const bool last_lane = --lanes_left_[step] == 0;
    if (step == run_.steps - 1)
        accounting_.close(lane);
    if (step + 2 != run_.steps)
        return;
    accounting_.open(lane, run_.now);
    if (last_lane)
        links_due_ = true;
}

} // namespace trainyard::engine
