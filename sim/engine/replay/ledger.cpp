#include "sim/engine/replay/ledger.h"

#include "sim/engine/slowdown.h"

#include <algorithm>
#include <limits>

namespace trainyard::engine::replay {

namespace {

constexpr Time never = std::numeric_limits<Time>::max();

} // namespace

std::uint8_t computing_stream(const LaneKind& kind)
{
    std::uint8_t found = no_stream;
    for (std::size_t s = 0; s < kind.streams.size(); ++s) {
        const StreamPlan& stream = kind.streams[s];
        if (stream.kind == StreamKind::compute && found != no_stream)
            return no_stream;
        if (stream.kind == StreamKind::compute)
            found = static_cast<std::uint8_t>(s);
        const auto first = kind.ops.begin() + stream.op_first;
        const bool elsewhere = stream.kind != StreamKind::compute &&
                               std::any_of(first, first + stream.op_count, [](const FlatOp& op) {
                                   return op.kind == OpKind::compute;
                               });
        if (elsewhere)
            return no_stream;
    }
    return found;
}

void LaneTimes::resize(const LaneKind& kind, bool loaded)
{
    for (auto* times : {&start, &begin, &end, &device})
        times->resize(kind.ops.size());
    left.resize(kind.ops.size());
    part_begin.resize(kind.parts.size());
    part_end.resize(kind.parts.size());
    loads.resize(loaded ? kind.ops.size() : 0);
    part_loads.resize(loaded ? kind.parts.size() : 0);
}

void LaneCharges::clear(const std::vector<std::uint32_t>& classes)
{
    time = {};
    for (const std::uint32_t of : classes)
        exposed[of] = 0;
    work = {};
    compute_busy = 0;
}

std::vector<StepWait> barriers_of(const LaneKind& kind)
{
    std::vector<StepWait> barriers(kind.host.barriers);
    std::size_t left = barriers.size();
    for (std::size_t s = 0; s < kind.streams.size(); ++s)
        for (std::uint32_t p = 0; p < kind.streams[s].op_count && left > 0; ++p) {
            const FlatOp& op = kind.ops[kind.streams[s].op_first + p];
            if (!op.ends_segment)
                continue;
            barriers[op.segment] = {p, static_cast<std::uint8_t>(s), false};
            --left;
        }
    return barriers;
}

void LaneCharges::repeat_since(const LaneCharges& before, std::uint32_t times)
{
    const auto repeat = [times](auto& now, const auto& then) {
        for (std::size_t i = 0; i < now.size(); ++i)
            now[i] += (now[i] - then[i]) * times;
    };
    repeat(time, before.time);
    repeat(exposed, before.exposed);
    repeat(work, before.work);
    compute_busy += (compute_busy - before.compute_busy) * times;
}

Ledger::Ledger(const Program& program, const LaneKind& kind, std::vector<StepWait> barriers,
               std::vector<std::uint8_t> stages, std::vector<std::uint32_t> first)
    : program_(program),
      kind_(kind),
      barriers_(std::move(barriers)),
      stages_(std::move(stages)),
      first_(std::move(first)),
      heads_(kind.streams.size()),
      left_(kind.streams.size()),
      compute_(computing_stream(kind))
{}

void Ledger::charge(const LaneTimes& times, Time from, LaneCharges& charges,
                    const RepeatedOps& repeated)
{
    next_ = first_;
    charge_all(times,
               compute_ == no_stream ? from : charge_in_order(times, from, charges, repeated),
               charges);
}

// Looks at all streams whenever something changes on one of them.
void Ledger::charge_all(const LaneTimes& times, Time from, LaneCharges& charges)
{
    std::fill(heads_.begin(), heads_.end(), Head{});
    for (Time now = from;;) {
        for (std::size_t s = 0; s < heads_.size(); ++s)
            update_head(s, times, now);
        const Time change = next_change(times, now);
        if (change == never)
            return;
        charge_piece(times, now, change, charges);
        now = change;
    }
}

// Finds the first op of the stream that has not ended, and what it does.
void Ledger::update_head(std::size_t s, const LaneTimes& times, Time now)
{
    const StreamPlan& stream = kind_.streams[s];
    std::uint32_t& next = next_[s];
    while (next < stream.op_count && times.end[stream.op_first + next] <= now)
        ++next;
    Head& head = heads_[s];
    const std::uint32_t before = head.op;
    head = {};
    if (next == stream.op_count)
        return;
    head.op = stream.op_first + next;
    if (head.op != before)
        left_[s] = times.left[head.op];
    const OpKind kind = kind_.ops[head.op].kind;
    if (times.start[head.op] > now) {
        head.behind = awaited(times, kind_.ops[head.op], now);
        head.state = head.behind == no_stream ? State::waits_for_issue : State::waits_for_stream;
    } else {
        head.state =
            kind == OpKind::collective || kind == OpKind::exchange ? State::joined : State::runs;
    }
    head.drains =
        head.state == State::runs && kind == OpKind::compute && times.device[head.op] > now;
}

// The stream whose head must end before the op can start; none if only the host must issue it.
std::uint8_t Ledger::awaited(const LaneTimes& times, const FlatOp& op, Time now) const
{
    const auto is_over = [&](const StepWait& wait) {
        return wait.position < first_[wait.stream] ||
               times.end[kind_.streams[wait.stream].op_first + wait.position] <= now;
    };
    for (std::size_t w = 0; w < op.wait_count; ++w) {
        const StepWait& wait = kind_.waits[op.wait_first + w];
        if (!wait.previous_step && !is_over(wait))
            return wait.stream;
    }
    if (op.by_itself)
        return no_stream;
    // The host stands at the first barrier that is not over; they are over in their order.
    const auto end = barriers_.begin() + static_cast<std::ptrdiff_t>(op.segment);
    const auto at = std::partition_point(barriers_.begin(), end, is_over);
    return at == end ? no_stream : at->stream;
}

Time Ledger::next_change(const LaneTimes& times, Time now) const
{
    Time change = never;
    for (const Head& head : heads_) {
        if (head.state == State::waits_for_issue)
            change = std::min(change, times.start[head.op]);
        if (head.state != State::runs && head.state != State::joined)
            continue;
        change = std::min(change, times.end[head.op]);
        const FlatOp& op = kind_.ops[head.op];
        for (std::uint32_t p = op.part_first; p < op.part_first + op.part_count; ++p)
            if (times.part_end[p] > now)
                change = std::min(change, times.part_end[p]);
    }
    for (const Head& head : heads_)
        if (head.drains && times.device[head.op] < change &&
            times.device[head.op] < times.end[head.op])
            change = times.device[head.op];
    return times.loads.empty() || change == never ? change : next_share(times, now, change);
}

Time Ledger::share(const LaneTimes& times, Time now) const
{
    std::uint64_t lost = 0;
    for (std::size_t s = 0; s < heads_.size(); ++s) {
        const Head& head = heads_[s];
        if (head.state != State::joined || kind_.streams[s].kind != StreamKind::communication)
            continue;
        const FlatOp& op = kind_.ops[head.op];
        const LaneLoad& load = times.loads[head.op];
        lost += static_cast<std::uint64_t>(load.resident);
        const auto moves = [&](Time begin, Time end, const LaneLoad& of) {
            if (begin + of.latency <= now && now < end)
                lost += static_cast<std::uint64_t>(of.traffic);
        };
        if (op.kind == OpKind::collective)
            moves(times.begin[head.op], times.end[head.op], load);
        for (std::uint32_t p = op.part_first; p < op.part_first + op.part_count; ++p)
            if (kind_.parts[p].direction == Direction::send)
                moves(times.part_begin[p], times.part_end[p], times.part_loads[p]);
    }
    return compute_share(lost, 0);
}

// When data begins to move, before `change`, so that the share differs; else `change`.
Time Ledger::next_share(const LaneTimes& times, Time now, Time change) const
{
    const Time before = share(times, now);
    for (Time from = now;;) {
        Time next = change;
        const auto offer = [&](Time begin, const LaneLoad& load) {
            if (begin + load.latency > from)
                next = std::min(next, begin + load.latency);
        };
        for (const Head& head : heads_) {
            if (head.state != State::joined)
                continue;
            const FlatOp& op = kind_.ops[head.op];
            if (op.kind == OpKind::collective)
                offer(times.begin[head.op], times.loads[head.op]);
            for (std::uint32_t p = op.part_first; p < op.part_first + op.part_count; ++p)
                offer(times.part_begin[p], times.part_loads[p]);
        }
        if (next == change || share(times, next) != before)
            return next;
        from = next;
    }
}

void Ledger::charge_piece(const LaneTimes& times, Time begin, Time end, LaneCharges& charges)
{
    const Time share_now = times.loads.empty() ? full_share : share(times, begin);
    bool charged = false; // to the first stream that computes
    for (std::size_t s = 0; s < heads_.size(); ++s) {
        const Head& head = heads_[s];
        if (head.state != State::runs || kind_.ops[head.op].kind != OpKind::compute)
            continue;
        const Time busy = std::clamp(times.device[head.op], begin, end) - begin;
        const u128 drained =
            std::min(left_[s], static_cast<u128>(busy) * static_cast<std::uint64_t>(share_now));
        left_[s] -= drained;
        if (charged)
            continue;
        charged = true;
        charges.work[phase_index(kind_.ops[head.op].phase)] += drained;
        charges.compute_busy += busy;
        charges.of(TimeKind::host) += end - begin - busy;
    }
    if (!charged)
        charge_idle(times, begin, end, charges);
}

void Ledger::charge_idle(const LaneTimes& times, Time begin, Time end, LaneCharges& charges) const
{
    const std::uint8_t next = next_compute();
    const Cause cause = next == no_stream ? cause_at_end(times, begin, end) : cause_of_wait(next);
    if (cause.transfer == no_stream)
        charges.of(cause.kind) += end - begin;
    else
        charge_op(times, heads_[cause.transfer].op, begin, end, charges);
}

// The stream whose head was written first.
std::uint8_t Ledger::next_compute() const
{
    std::uint8_t next = no_stream;
    for (std::size_t s = 0; s < heads_.size(); ++s) {
        if (kind_.streams[s].kind != StreamKind::compute || heads_[s].state == State::finished)
            continue;
        const auto stream = static_cast<std::uint8_t>(s);
        if (next == no_stream || op_of(stream).order < op_of(next).order)
            next = stream;
    }
    return next;
}

Ledger::Cause Ledger::cause_of_wait(std::uint8_t stream) const
{
    while (heads_[stream].state == State::waits_for_stream)
        stream = heads_[stream].behind;
    switch (heads_[stream].state) {
    case State::joined:
        return {stream, TimeKind::bubble};
    case State::runs: {
        const FlatOp& op = op_of(stream);
        return {no_stream, op.kind == OpKind::copy || op.phase == Phase::data ? TimeKind::data
                                                                              : TimeKind::host};
    }
    case State::waits_for_issue:
        return {no_stream, TimeKind::host};
    default:
        return {};
    }
}

// What else is going on when nothing is left to compute.
Ledger::Cause Ledger::cause_at_end(const LaneTimes& times, Time begin, Time end) const
{
    Cause best;
    int best_rank = 0;
    const auto offer = [&](Cause cause, int rank) {
        if (rank > best_rank) {
            best = cause;
            best_rank = rank;
        }
    };
    for (std::size_t s = 0; s < heads_.size(); ++s) {
        const auto stream = static_cast<std::uint8_t>(s);
        const Head& head = heads_[s];
        if (head.state == State::joined)
            offer({stream, TimeKind::bubble},
                  moving_since(times, head.op, begin, end) < end ? 3 : 2);
        else if (head.state == State::waits_for_issue)
            offer({no_stream, TimeKind::host}, 4);
        else if (head.state == State::runs)
            offer(cause_of_wait(stream), op_of(stream).kind == OpKind::host ? 4 : 1);
    }
    return best;
}

// When the data of a transfer began to move; `never` if it does not before `end`.
Time Ledger::moving_since(const LaneTimes& times, std::uint32_t o, Time begin, Time end) const
{
    const FlatOp& op = kind_.ops[o];
    if (op.kind == OpKind::collective)
        return times.begin[o] < end ? times.begin[o] : never;
    Time since = never;
    for (std::uint32_t p = op.part_first; p < op.part_first + op.part_count; ++p)
        if (times.part_begin[p] < end && times.part_end[p] > begin)
            since = std::min(since, times.part_begin[p]);
    return since;
}

} // namespace trainyard::engine::replay
