#include "sim/engine/ahead/runner.h"

#include "sim/engine/ahead/ahead.h"
#include "sim/engine/host_issue.h"
#include "sim/engine/slowdown.h"
#include "sim/engine/standstill.h"

#include <algorithm>
#include <bit>

namespace trainyard::engine {

namespace ahead {

namespace {

constexpr std::uint64_t ops_between_looks = 1U << 14;
constexpr std::size_t most_accounted = std::size_t{1} << 26; // bytes

} // namespace

Runner::Runner(const Program& program, const Binding& binding, const RunControl& control,
               const Omissions& omissions)
    : control_(control),
      run_(program, binding, control.steps, omissions),
      table_(run_),
      recorder_(run_, control.record, Recorder::Segments::of_recorded_lanes),
      seams_(run_),
      interferes_(interferes(binding.costs)),
      step_mask_(std::bit_ceil(std::min(run_.steps, most_steps_in_flight)) - 1),
      lanes_(run_.lanes.size()),
      streams_(run_.streams.size()),
      step_ends_(run_.steps),
      lane_ends_(run_.lanes.size())
{}

std::optional<StepResult> Runner::run()
{
    if (StepAccounting::size(run_) > most_accounted || (seams_.any() && !seams_.fit()))
        return std::nullopt;
    accounting_.emplace(run_);
    for (const LaneKind& kind : run_.compiled.kinds)
        passages_.push_back(passages_of(run_.program, kind));
    begin();
    for (;;) {
        while (!dirty_.empty() && !gave_up_) {
            const std::uint32_t lane = dirty_.back();
            dirty_.pop_back();
            lanes_[lane].dirty = false;
            advance(lane);
            report_progress();
        }
        if (gave_up_ || queue_.empty())
            break;
        settle_first_end();
    }
    if (gave_up_ || ops_ < all_ops_)
        return std::nullopt;
    return result();
}

void Runner::begin()
{
    for (std::uint32_t l = 0; l < lanes_.size(); ++l) {
        LaneRun& lane = lanes_[l];
        lane.kind = run_.lanes[l].kind;
        const std::uint32_t ops = lane.kind->op_count;
        all_ops_ += std::uint64_t{ops} * run_.steps;
        const Time start = run_.binding.lanes[l].start.value();
        lane.bases.push_back(start);
        lane.ends.resize(std::size_t{ops} * (step_mask_ + 1));
        lane.ops_left.fill(ops);
        lane.passages = &passages_[run_.compiled.lane_kinds[l]];
        lane.learned.resize(lane.passages->shapes.size());
        lane.skips_passages = control_.mechanisms.has(Mechanism::passages) && run_.lanes[l].plain &&
                              !recorder_.wants(l);
        if (ops == 0)
            continue;
        if (run_.steps == 1)
            lane.opened = start;
        for (std::uint32_t s = 0; s < lane.kind->streams.size(); ++s)
            begin_stream(l, s);
        wake(l);
    }
    std::reverse(dirty_.begin(), dirty_.end());
}

void Runner::begin_stream(std::uint32_t l, std::uint32_t s)
{
    LaneRun& lane = lanes_[l];
    const StreamPlan& plan = lane.kind->streams[s];
    StreamRun& stream = stream_at(l, s);
    stream.op = lane.kind->ops.data() + plan.op_first;
    stream.lane = l;
    stream.index = static_cast<std::uint8_t>(s);
    stream.communicates = plan.kind == StreamKind::communication;
    const StreamMask me = StreamMask{1} << s;
    lane.open |= me;
    lane.slowing |= stream.communicates && slows(l, plan) ? me : 0;
    lane.computing |= lane.passages->computing & me;
}

void Runner::wake(std::uint32_t lane)
{
    if (lanes_[lane].dirty)
        return;
    lanes_[lane].dirty = true;
    dirty_.push_back(lane);
}

// Takes the lane as far as it gets with what is known.
void Runner::advance(std::uint32_t l)
{
    LaneRun& lane = lanes_[l];
    do {
        while (lane.open != 0 && !gave_up_)
            advance_stream(lane,
                           stream_at(l, static_cast<std::size_t>(std::countr_zero(lane.open))));
    } while (!gave_up_ && lane.draining != 0 && std::exchange(lane.unsettled, false) &&
             settle_drains(l));
    if (lane.draining != 0)
        queue_drains(l);
}

// Takes a stream as far as it gets, from its head on.
void Runner::advance_stream(LaneRun& lane, StreamRun& stream)
{
    while (stream.state == State::waits && ready(lane, stream)) {
        const Time issue = issued(lane, stream);
        stream.start = std::max(stream.ready, issue);
        if (stream.ready < issue && watched(stream))
            stop_watching(lane);
        if (stream.op->kind == OpKind::collective || stream.op->kind == OpKind::exchange)
            join(stream);
        else
            start_timed(lane, stream, issue);
        if (gave_up_)
            return;
    }
    lane.open &= ~(StreamMask{1} << stream.index);
}

// Whether all is known that the head needs: what it waits for, and when its host segment began.
bool Runner::ready(LaneRun& lane, StreamRun& stream)
{
    const LaneKind& kind = *lane.kind;
    const FlatOp& op = *stream.op;
    const StreamMask me = StreamMask{1} << stream.index;
    if (stream.step + 1 >= lane.steps_over + most_steps_in_flight) {
        stream.blocked_by = BlockedBy::steps;
        lane.step_waiters |= me;
        return false;
    }
    for (; stream.waits_passed < op.wait_count; ++stream.waits_passed) {
        const StepWait& wait = kind.waits[op.wait_first + stream.waits_passed];
        if (wait.previous_step && stream.step == 0)
            continue;
        const std::uint32_t step = wait.previous_step ? stream.step - 1U : stream.step;
        const StreamPlan& plan = kind.streams[wait.stream];
        StreamRun& other = stream_at(stream.lane, wait.stream);
        const std::uint32_t needed = step * plan.op_count + wait.position + 1;
        if (other.done < needed) {
            stream.blocked_by = BlockedBy::op;
            stream.blocking_stream = wait.stream;
            stream.needed = needed;
            other.waiters |= me;
            other.wanted = std::min(other.wanted, needed);
            return false;
        }
        stream.ready = std::max(
            stream.ready,
            lane.ends[(step & step_mask_) * kind.op_count + plan.op_first + wait.position]);
    }
    if (!op.by_itself && lane.bases.size() <= barriers_before(kind, op, stream.step)) {
        stream.blocked_by = BlockedBy::host;
        lane.host_waiters |= me;
        return false;
    }
    stream.blocked_by = BlockedBy::nothing;
    return true;
}

// Lets the waiting streams look at their heads again.
void Runner::unblock(LaneRun& lane, StreamMask& waiters)
{
    lane.open |= std::exchange(waiters, 0);
}

// The same of those whose op a stream is through with.
void Runner::unblock_waiters(LaneRun& lane, StreamRun& stream)
{
    stream.wanted = nobody;
    for (StreamMask left = stream.waiters; left != 0; left &= left - 1) {
        const auto s = static_cast<std::size_t>(std::countr_zero(left));
        const std::uint32_t needed = stream_at(stream.lane, s).needed;
        const StreamMask waiter = StreamMask{1} << s;
        if (needed <= stream.done) {
            stream.waiters &= ~waiter;
            lane.open |= waiter;
        } else
            stream.wanted = std::min(stream.wanted, needed);
    }
}

Time Runner::issued(const LaneRun& lane, const StreamRun& stream) const
{
    const FlatOp& op = *stream.op;
    if (op.by_itself)
        return run_.binding.lanes[stream.lane].start.value();
    const Time base = lane.bases[barriers_before(*lane.kind, op, stream.step)];
    return issue_time(run_, stream.lane, op, stream.step, SimTime(base)).value();
}

// Starts a compute, copy or host op.
void Runner::start_timed(LaneRun& lane, StreamRun& stream, Time issue)
{
    const FlatOp& op = *stream.op;
    const SimTime duration = run_.duration_of(stream.lane, op, stream.step);
    stream.least = stream.start;
    if (op.kind != OpKind::host && !op.by_itself)
        stream.least = std::max(stream.least, earliest_end(op, SimTime(issue), duration).value());
    const Time device = stream.start + duration.value();
    if (op.kind != OpKind::compute) {
        record(stream, SimTime(stream.start), Bytes(0), LaneId::none(),
               std::max(device, stream.least));
        return finish(stream, std::max(device, stream.least));
    }
    stream.work = static_cast<u128>(duration.value()) * full_share;
    if (!interferes_ && skip_passages(stream))
        return;
    if (!interferes_ || duration.value() == 0)
        return end_compute(stream, device);
    stream.state = State::drains;
    stream.queued = never;
    stream.end = never;
    lane.draining |= StreamMask{1} << stream.index;
    lane.unsettled = true;
}

// Ends the head of a stream at a time that is known.
void Runner::finish(StreamRun& stream, Time end)
{
    if (end >= longest_sim_time.value()) {
        gave_up_ = true;
        return;
    }
    LaneRun& lane = lanes_[stream.lane];
    const LaneKind& kind = *lane.kind;
    const FlatOp& op = *stream.op;
    const std::uint32_t o = op_index(stream);
    const std::uint32_t slot = stream.step & step_mask_;
    lane.ends[std::size_t{slot} * kind.op_count + o] = end;
    if (measured(stream)) {
        accounting_->times(stream.lane).start[o] = stream.start;
        accounting_->times(stream.lane).end[o] = end;
    }
    note_watched(stream, end);
    if (op.ends_segment) {
        lane.bases.push_back(end);
        run_.now = SimTime(end);
        recorder_.host_segment(stream.lane);
        unblock(lane, lane.host_waiters);
    }
    advance_past(stream, 1, end);
}

// Moves a stream past so many ops, the last of which ends at `end`.
void Runner::advance_past(StreamRun& stream, std::uint32_t ops, Time end)
{
    LaneRun& lane = lanes_[stream.lane];
    const LaneKind& kind = *lane.kind;
    const StreamPlan& plan = kind.streams[stream.index];
    const std::uint32_t step = stream.step;
    const std::uint32_t slot = step & step_mask_;
    ops_ += ops;
    stream.done += ops;
    if (stream.done >= stream.wanted)
        unblock_waiters(lane, stream);
    lane.open |= StreamMask{1} << stream.index;
    lane.unsettled = true;
    stream.ready = end;
    stream.waits_passed = 0;
    stream.state = State::waits;
    stream.op += ops;
    if (op_index(stream) == plan.op_first + plan.op_count) {
        stream.op = kind.ops.data() + plan.op_first;
        if (++stream.step == run_.steps)
            stream.state = State::finished;
    }
    lane.step_end[slot] = std::max(lane.step_end[slot], end);
    lane.ops_left[slot] -= ops;
    if (lane.ops_left[slot] == 0)
        end_of_step(stream.lane, step, lane.step_end[slot]);
}

void Runner::end_of_step(std::uint32_t l, std::uint32_t step, Time end)
{
    LaneRun& lane = lanes_[l];
    if (seams_.any() && !step_repeats(l, step)) {
        gave_up_ = true;
        return;
    }
    lane.ops_left[step & step_mask_] = lane.kind->op_count;
    lane.step_end[step & step_mask_] = 0;
    ++lane.steps_over;
    unblock(lane, lane.step_waiters);
    step_ends_[step] = std::max(step_ends_[step], SimTime(end));
    if (step + 2 == run_.steps)
        open_measured_step(l, end);
    if (step + 1 != run_.steps)
        return;
    const Time shift = seams_.shift_behind(step);
    lane_ends_[l] = SimTime(end + shift);
    count_skipped(l);
    const Time left_out = shift - (step > 0 ? seams_.shift_behind(step - 1) : 0);
    accounting_->close(l, SimTime(lane.opened), SimTime(end + left_out),
                       seams_.charged(*lane.kind));
}

// Whether what is left out of a step that the lane has gone through would go like what is not.
bool Runner::step_repeats(std::uint32_t l, std::uint32_t step)
{
    const LaneRun& lane = lanes_[l];
    const auto ends = [&](std::uint32_t s) {
        return lane.ends.data() + std::size_t{s & step_mask_} * lane.kind->op_count;
    };
    return seams_.go_alike(l, step, {ends(step), step > 0 ? ends(step - 1) : nullptr, &lane.bases});
}

// Begins the measured step of the lane.
void Runner::open_measured_step(std::uint32_t l, Time time)
{
    LaneRun& lane = lanes_[l];
    lane.opened = time;
    replay::LaneTimes& times = accounting_->times(l);
    for (const std::uint32_t o : lane.early)
        times.left[o] = lane.loads.left_at(time, times.start[o], times.left[o]);
    lane.early.clear();
}

// Records the head of a stream; call before it ends.
void Runner::record(const StreamRun& stream, SimTime moved_from, Bytes bytes, LaneId last_arriver,
                    Time end)
{
    if (!recorder_.wants(stream.lane))
        return;
    const std::uint32_t number = number_of(stream);
    StreamState& state = run_.streams[number];
    state.start = SimTime(stream.start);
    state.step = static_cast<std::uint16_t>(stream.step);
    state.head = op_index(stream);
    run_.now = SimTime(end);
    recorder_.add(number, moved_from, bytes, last_arriver);
}

void Runner::report_progress()
{
    if (ops_ < next_report_)
        return;
    next_report_ = ops_ + ops_between_looks;
    control_.work.check();
    control_.work.report("simulate", static_cast<double>(ops_), static_cast<double>(all_ops_));
}

StepResult Runner::result()
{
    StepResult result;
    for (std::uint32_t step = 0; step < run_.steps; ++step)
        step_ends_[step] += SimTime(seams_.shift_behind(step));
    set_steps(result, step_ends_);
    result.lane_ends = lane_ends_;
    accounting_->write(result);
    result.records = recorder_.take();
    result.ops = ops_ + seams_.left_out();
    result.events = events_;
    return result;
}

} // namespace ahead

std::optional<StepResult> run_ahead(const Program& program, const Binding& binding,
                                    const RunControl& control)
{
    if (control.fidelity != Fidelity::alpha_beta || has_windows(binding) || any_stops(binding) ||
        program.streams.size() > ahead::most_streams)
        return std::nullopt;
    if (control.mechanisms.has(Mechanism::seams) && !control.record.lane)
        if (const Omissions omissions = ahead::find_omissions(program); !omissions.empty())
            if (auto result = ahead::Runner(program, binding, control, omissions).run())
                return result;
    return ahead::Runner(program, binding, control, {}).run();
}

} // namespace trainyard::engine
