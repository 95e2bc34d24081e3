#include "sim/engine/ahead/runner.h"

#include "sim/engine/ahead/ahead.h"
#include "sim/engine/host_issue.h"
#include "sim/engine/interference.h"
#include "sim/engine/standstill.h"

#include <algorithm>

namespace trainyard::engine {

namespace ahead {

namespace {

constexpr std::uint64_t ops_between_reports = 1U << 14;

bool computes(const LaneKind& kind, const StreamPlan& stream)
{
    const auto first = kind.ops.begin() + stream.op_first;
    return std::any_of(first, first + stream.op_count,
                       [](const FlatOp& op) { return op.kind == OpKind::compute; });
}

} // namespace

Runner::Runner(const Program& program, const Binding& binding, const RunControl& control)
    : control_(control),
      run_(program, binding, control.steps),
      table_(run_),
      recorder_(run_, control.record, Recorder::Segments::of_recorded_lanes),
      books_(run_),
      interferes_(interferes(binding.costs)),
      in_hand_(std::min(run_.steps, most_in_hand)),
      lanes_(run_.lanes.size()),
      streams_(run_.streams.size()),
      step_ends_(run_.steps),
      lane_ends_(run_.lanes.size())
{}

std::optional<StepResult> Runner::run()
{
    begin();
    for (;;) {
        while (!dirty_.empty() && !gave_up_) {
            const std::uint32_t lane = dirty_.back();
            dirty_.pop_back();
            lanes_[lane].dirty = false;
            advance(lane);
            keep_in_touch();
        }
        if (gave_up_ || queue_.empty())
            break;
        take_event();
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
        lane.ends.resize(std::size_t{ops} * in_hand_);
        lane.ops_left.fill(ops);
        if (ops == 0)
            continue;
        if (run_.steps == 1)
            lane.opened = start;
        for (std::uint32_t s = 0; s < lane.kind->streams.size(); ++s)
            stream_at(l, s).computes = computes(*lane.kind, lane.kind->streams[s]);
        wake(l);
    }
    std::reverse(dirty_.begin(), dirty_.end());
}

void Runner::wake(std::uint32_t lane)
{
    if (lanes_[lane].dirty)
        return;
    lanes_[lane].dirty = true;
    dirty_.push_back(lane);
}

// As far as the lane gets with what is known.
void Runner::advance(std::uint32_t lane)
{
    const auto count = static_cast<std::uint32_t>(lanes_[lane].kind->streams.size());
    for (bool moved = true; moved && !gave_up_;) {
        moved = false;
        for (std::uint32_t s = 0; s < count; ++s)
            while (advance_stream(lane, s))
                moved = true;
    }
    if (interferes_)
        queue_drains(lane);
}

// Whether the head of a stream has started or ended.
bool Runner::advance_stream(std::uint32_t lane, std::uint32_t s)
{
    StreamRun& stream = stream_at(lane, s);
    if (gave_up_ || stream.state == State::finished || stream.state == State::joined)
        return false;
    if (stream.state == State::drains)
        return stream.seen != lanes_[lane].changes && drain(lane, s);
    const FlatOp& op = head(lane, s);
    if (!ready(lane, stream, op))
        return false;
    const Time issue = issued(lane, stream, op);
    stream.start = std::max(stream.ready, issue);
    if (op.kind == OpKind::collective || op.kind == OpKind::exchange)
        join(lane, s, op);
    else
        start_timed(lane, s, op, issue);
    return true;
}

// Whether all is known that the head needs: what it waits for, and when its host segment began.
bool Runner::ready(std::uint32_t l, StreamRun& stream, const FlatOp& op)
{
    const LaneRun& lane = lanes_[l];
    const LaneKind& kind = *lane.kind;
    if (still_blocked(l, stream))
        return false;
    stream.block = Block::nothing;
    if (stream.step + 1 >= lane.steps_over + most_in_hand)
        return false;
    for (; stream.waits_passed < op.wait_count; ++stream.waits_passed) {
        const StepWait& wait = kind.waits[op.wait_first + stream.waits_passed];
        if (wait.previous_step && stream.step == 0)
            continue;
        const std::uint32_t step = wait.previous_step ? stream.step - 1U : stream.step;
        const StreamPlan& other = kind.streams[wait.stream];
        const std::uint32_t needed = step * other.op_count + wait.position + 1;
        if (stream_at(l, wait.stream).done < needed) {
            stream.block = Block::op;
            stream.blocking_stream = wait.stream;
            stream.blocking_count = needed;
            return false;
        }
        const std::size_t in_hand = step % in_hand_;
        stream.ready = std::max(
            stream.ready, lane.ends[in_hand * kind.op_count + other.op_first + wait.position]);
    }
    const std::uint32_t barriers = barriers_before(kind, op, stream.step);
    if (!op.by_itself && lane.bases.size() <= barriers) {
        stream.block = Block::host;
        stream.blocking_count = barriers;
        return false;
    }
    return true;
}

// By what its head was found to wait for.
bool Runner::still_blocked(std::uint32_t lane, const StreamRun& stream) const
{
    switch (stream.block) {
    case Block::op:
        return stream_at(lane, stream.blocking_stream).done < stream.blocking_count;
    case Block::host:
        return lanes_[lane].bases.size() <= stream.blocking_count;
    default:
        return false;
    }
}

Time Runner::issued(std::uint32_t lane, const StreamRun& stream, const FlatOp& op) const
{
    if (op.by_itself)
        return run_.binding.lanes[lane].start.value();
    const Time base = lanes_[lane].bases[barriers_before(*lanes_[lane].kind, op, stream.step)];
    return issue_time(run_, lane, op, stream.step, SimTime(base)).value();
}

// Compute, copy, host.
void Runner::start_timed(std::uint32_t lane, std::uint32_t s, const FlatOp& op, Time issue)
{
    StreamRun& stream = stream_at(lane, s);
    const SimTime duration = run_.duration_of(lane, op, stream.step);
    stream.least = stream.start;
    if (op.kind != OpKind::host && !op.by_itself)
        stream.least = std::max(stream.least, earliest_end(op, SimTime(issue), duration).value());
    const Time device = stream.start + duration.value();
    if (op.kind != OpKind::compute)
        return finish(lane, s, std::max(device, stream.least));
    stream.work = static_cast<u128>(duration.value()) * full_share;
    if (!interferes_ || duration.value() == 0)
        return end_compute(lane, s, device);
    stream.state = State::drains;
    stream.queued = never;
    stream.seen = ++lanes_[lane].changes - 1;
}

void Runner::finish(std::uint32_t l, std::uint32_t s, Time end)
{
    if (end >= longest_sim_time.value()) {
        gave_up_ = true;
        return;
    }
    LaneRun& lane = lanes_[l];
    const LaneKind& kind = *lane.kind;
    StreamRun& stream = stream_at(l, s);
    const FlatOp& op = head(l, s);
    const std::uint32_t o = op_index(l, op);
    const std::size_t in_hand = stream.step % in_hand_;
    lane.ends[in_hand * kind.op_count + o] = end;
    if (measured(stream)) {
        books_.times(l).start[o] = stream.start;
        books_.times(l).end[o] = end;
    }
    if (op.kind != OpKind::collective && op.kind != OpKind::exchange)
        record(l, s, SimTime(stream.start), Bytes(0), LaneId::none(), end);
    if (op.ends_segment) {
        lane.bases.push_back(end);
        run_.now = SimTime(end);
        recorder_.host_segment(l);
    }
    ++ops_;
    ++lane.changes;
    ++stream.done;
    stream.ready = end;
    stream.waits_passed = 0;
    stream.state = State::waits;
    const std::uint32_t step = stream.step;
    if (++stream.position == kind.streams[s].op_count) {
        stream.position = 0;
        if (++stream.step == run_.steps)
            stream.state = State::finished;
    }
    lane.step_end[in_hand] = std::max(lane.step_end[in_hand], end);
    if (--lane.ops_left[in_hand] == 0)
        end_of_step(l, step, lane.step_end[in_hand]);
}

void Runner::end_of_step(std::uint32_t l, std::uint32_t step, Time end)
{
    LaneRun& lane = lanes_[l];
    const std::size_t in_hand = step % in_hand_;
    lane.ops_left[in_hand] = lane.kind->op_count;
    lane.step_end[in_hand] = 0;
    ++lane.steps_over;
    step_ends_[step] = std::max(step_ends_[step], SimTime(end));
    if (step + 2 == run_.steps)
        open(l, end);
    if (step + 1 != run_.steps)
        return;
    lane_ends_[l] = SimTime(end);
    books_.close(l, SimTime(lane.opened), SimTime(end));
}

// The measured step of the lane begins.
void Runner::open(std::uint32_t l, Time time)
{
    LaneRun& lane = lanes_[l];
    lane.opened = time;
    replay::LaneTimes& times = books_.times(l);
    for (const std::uint32_t o : lane.early)
        times.left[o] = lane.loads.left_at(time, times.start[o], times.left[o]);
    lane.early.clear();
}

void Runner::record(std::uint32_t lane, std::uint32_t s, SimTime moved_from, Bytes bytes,
                    LaneId last_arriver, Time end)
{
    if (!recorder_.wants(lane))
        return;
    const StreamRun& from = stream_at(lane, s);
    StreamState& stream = run_.streams[run_.stream_index(lane, s)];
    stream.start = SimTime(from.start);
    stream.step = static_cast<std::uint16_t>(from.step);
    stream.head = op_index(lane, head(lane, s));
    run_.now = SimTime(end);
    recorder_.add(run_.stream_index(lane, s), moved_from, bytes, last_arriver);
}

void Runner::keep_in_touch()
{
    if (ops_ < next_report_)
        return;
    next_report_ = ops_ + ops_between_reports;
    control_.work.check();
    control_.work.report("simulate", static_cast<double>(ops_), static_cast<double>(all_ops_));
}

StepResult Runner::result()
{
    StepResult result;
    for (std::size_t step = 1; step < step_ends_.size(); ++step)
        step_ends_[step] = std::max(step_ends_[step], step_ends_[step - 1]);
    result.step_ends = step_ends_;
    result.step_time = step_ends_.back();
    if (step_ends_.size() > 1)
        result.step_time -= step_ends_[step_ends_.size() - 2];
    result.lane_ends = lane_ends_;
    books_.write(result);
    result.records = recorder_.take();
    result.ops = ops_;
    result.events = events_;
    return result;
}

} // namespace ahead

std::optional<StepResult> run_ahead(const Program& program, const Binding& binding,
                                    const RunControl& control)
{
    const bool plain = std::all_of(binding.lanes.begin(), binding.lanes.end(),
                                   [](const Lane& lane) { return lane.windows.empty(); });
    if (control.fidelity != Fidelity::alpha_beta || !plain || any_stops(binding))
        return std::nullopt;
    return ahead::Runner(program, binding, control).run();
}

} // namespace trainyard::engine
