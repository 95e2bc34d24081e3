#include "sim/engine/accounting.h"

#include "sim/engine/host_issue.h"

#include <algorithm>
#include <limits>

namespace trainyard::engine {

namespace {

constexpr SimTime not_yet{std::numeric_limits<std::int64_t>::max()};

} // namespace

Accounting::Accounting(RunState& run)
    : run_(run),
      accounts_(run.lanes.size()),
      measured_(run.lanes.size()),
      sums_(transfer_class_count())
{
    for (const Group& group : run_.binding.groups)
        joins_stages_.push_back(joins_stages(group, run_.binding.lanes));
}

void Accounting::open(std::uint32_t lane, SimTime time)
{
    run_.lanes[lane].measured = true;
    run_.lanes[lane].last = time;
    measured_[lane].begin = time;
}

void Accounting::close(std::uint32_t lane)
{
    run_.lanes[lane].measured = false;
    measured_[lane].end = run_.now;
}

void Accounting::charge(std::uint32_t lane)
{
    const Piece piece{run_.lanes[lane].last, run_.now};
    const std::uint32_t computing =
        run_.lanes[lane].computing > 0 ? computing_stream(lane) : nobody;
    if (computing != nobody)
        charge_op(lane, computing, piece);
    else
        charge_idle(lane, piece);
}

// The first stream on which a compute op runs.
std::uint32_t Accounting::computing_stream(std::uint32_t lane) const
{
    const std::size_t count = run_.kind_of(lane).streams.size();
    for (std::size_t s = 0; s < count; ++s) {
        const StreamState& stream = run_.streams[run_.stream_index(lane, s)];
        if (stream.kind == OpKind::compute &&
            (stream.state == HeadState::running || stream.state == HeadState::host_limited))
            return run_.stream_index(lane, s);
    }
    return nobody;
}

// Up to `mark` the device works, behind it the op waits for its last kernels.
void Accounting::charge_op(std::uint32_t lane, std::uint32_t stream, Piece piece)
{
    const StreamState& op = run_.streams[stream];
    Account& account = accounts_[lane];
    const SimTime device_end = std::clamp(op.mark, piece.begin, piece.end);
    const SimTime busy = device_end - piece.begin;
    account[TimeKind::slowdown] += busy;
    if (device_end != piece.end)
        account[TimeKind::host] += piece.end - device_end;
    const std::size_t phase = phase_index(op.phase);
    if (fractions_.empty()) {
        account.time[phase] += busy;
        return;
    }
    const u128 work = fractions_[lane][phase] + work_done_in(stream, piece.begin, busy);
    account.time[phase] += span_of(work >> 20);
    fractions_[lane][phase] = static_cast<std::uint32_t>(work) & (full_share - 1);
}

// What the op gets of the device while it is busy from `begin` on, in ps x 2^20: what drains (less
// than its share in the last picosecond, which is rounded up), or its share where a window lets it
// drain slower.
u128 Accounting::work_done_in(std::uint32_t stream, SimTime begin, SimTime busy) const
{
    if (run_.draining[stream].remaining == 0)
        return static_cast<u128>(busy.value()) * full_share;
    const Draining& drain = run_.draining[stream];
    if (drain.rate != drain.share)
        return static_cast<u128>(busy.value()) * drain.share;
    const ByteRate rate{drain.rate};
    const Work before = remaining_after(Work{drain.remaining}, rate, begin - drain.settled);
    return before.value - remaining_after(before, rate, busy).value;
}

void Accounting::charge_idle(std::uint32_t lane, Piece piece)
{
    const Cause cause = cause_of_idleness(lane);
    Account& account = accounts_[lane];
    if (cause.transfer_stream == nobody) {
        account[cause.kind] += piece.end - piece.begin;
        return;
    }
    const SimTime moving = std::clamp(moving_since(cause.transfer_stream), piece.begin, piece.end);
    if (moving != piece.begin)
        account[idle_kind(cause.transfer_stream)] += moving - piece.begin;
    const SimTime exposed = piece.end - moving;
    account[exposed_kind(run_.label_of(cause.transfer_stream).group)] += exposed;
    sum_of(cause.transfer_stream).exposed +=
        static_cast<u128>(exposed.value()) * run_.lanes[lane].multiplicity;
}

// When the joined op at the head of `stream` began to move data; `not_yet` if it does not yet.
SimTime Accounting::moving_since(std::uint32_t stream) const
{
    const StreamState& op = run_.streams[stream];
    if (op.kind == OpKind::exchange)
        return op.parts.moving > 0 ? op.second_mark : not_yet;
    const Transfer& transfer = run_.transfers[op.transfer];
    return transfer.state == TransferState::gathering ? not_yet : transfer.start;
}

// What a lane does whose transfer at the head of `stream` has not begun.
TimeKind Accounting::idle_kind(std::uint32_t stream) const
{
    const OpKind kind = run_.streams[stream].kind;
    if (kind == OpKind::exchange)
        return waiting_kind(kind, true);
    const GroupId group = run_.group_of(run_.lane_of(stream), run_.head(stream).group);
    return waiting_kind(kind, joins_stages_[group.value]);
}

// The compute stream whose head was written first.
std::uint32_t Accounting::next_compute_stream(std::uint32_t lane) const
{
    const LaneKind& kind = run_.kind_of(lane);
    std::uint32_t next = nobody;
    std::uint64_t next_order = 0;
    for (std::size_t s = 0; s < kind.streams.size(); ++s) {
        const std::uint32_t index = run_.stream_index(lane, s);
        const StreamState& stream = run_.streams[index];
        if (kind.streams[s].kind != StreamKind::compute || stream.state == HeadState::finished)
            continue;
        const std::uint64_t order =
            std::uint64_t{stream.step} * kind.op_count + kind.ops[stream.head].order;
        if (next == nobody || order < next_order) {
            next = index;
            next_order = order;
        }
    }
    return next;
}

Accounting::Cause Accounting::cause_of_idleness(std::uint32_t lane) const
{
    const std::uint32_t stream = next_compute_stream(lane);
    return stream == nobody ? cause_at_the_end(lane) : cause_behind(lane, stream);
}

// Follows what the head of `stream` waits for. Each step leads to an op that was written earlier,
// so this ends.
Accounting::Cause Accounting::cause_behind(std::uint32_t lane, std::uint32_t stream) const
{
    const LaneKind& kind = run_.kind_of(lane);
    for (;;) {
        const StreamState& op = run_.streams[stream];
        switch (op.state) {
        case HeadState::waits_for_op:
            stream = run_.stream_index(lane, op.blocking_stream);
            continue;
        case HeadState::waits_for_host:
            stream = run_.stream_index(
                lane,
                kind.host.barrier_streams[run_.lanes[lane].host_segment % kind.host.barriers]);
            continue;
        case HeadState::waits_for_issue:
        case HeadState::unchecked:
            return {nobody, TimeKind::host};
        case HeadState::joined:
            return {stream, TimeKind::bubble};
        case HeadState::unissued:
        case HeadState::lost:
        case HeadState::endless:
        case HeadState::running:
        case HeadState::host_limited:
            return {nobody, op.kind == OpKind::copy || op.phase == Phase::data ? TimeKind::data
                                                                               : TimeKind::host};
        case HeadState::finished:
            return {};
        }
    }
}

// Nothing is left to compute: what else is going on, in the order of the rule.
Accounting::Cause Accounting::cause_at_the_end(std::uint32_t lane) const
{
    Cause best;
    int best_rank = 0;
    const auto offer = [&](Cause cause, int rank) {
        if (rank > best_rank) {
            best = cause;
            best_rank = rank;
        }
    };
    const std::size_t count = run_.kind_of(lane).streams.size();
    for (std::size_t s = 0; s < count; ++s) {
        const std::uint32_t index = run_.stream_index(lane, s);
        const StreamState& op = run_.streams[index];
        if (op.state == HeadState::joined)
            offer({index, TimeKind::bubble}, moving_since(index) < run_.now ? 3 : 2);
        else if (op.state == HeadState::waits_for_issue)
            offer({nobody, TimeKind::host}, 4);
        else if (op.state == HeadState::running || op.state == HeadState::host_limited)
            offer(cause_behind(lane, index), op.kind == OpKind::host ? 4 : 1);
    }
    return best;
}

TransferSum& Accounting::sum_of(std::uint32_t stream)
{
    return sums_[transfer_class(run_.label_of(stream))];
}

void Accounting::count_transfer(std::uint32_t stream, SimTime began, Bytes bytes)
{
    const std::uint32_t lane = run_.lane_of(stream);
    const std::uint64_t ranks = run_.lanes[lane].multiplicity;
    accounts_[lane].communication_busy += run_.now - began;
    TransferSum& sum = sum_of(stream);
    sum.count += ranks;
    sum.bytes += static_cast<u128>(bytes.value()) * ranks;
    sum.transfer += static_cast<u128>((run_.now - began).value()) * ranks;
    sum.waiting += static_cast<u128>((began - run_.streams[stream].start).value()) * ranks;
}

std::vector<LaneTotals> Accounting::lane_totals(SimTime step_time) const
{
    std::vector<LaneTotals> result;
    result.reserve(accounts_.size());
    const TimeKind idle = kind_at_the_end(run_.binding.lanes);
    for (std::size_t l = 0; l < accounts_.size(); ++l) {
        Account account = accounts_[l];
        SimTime& slowed = account[TimeKind::slowdown];
        const SimTime busy = slowed;
        for (std::size_t phase = 0; phase < std::tuple_size_v<ComputeWork>; ++phase)
            slowed -= account.time[phase];
        result.push_back({account.time, busy, account.communication_busy});
        fill_step(result.back(), step_time - (measured_[l].end - measured_[l].begin), idle);
    }
    return result;
}

std::vector<SimTime> Accounting::lane_ends() const
{
    std::vector<SimTime> ends;
    for (const Piece& step : measured_)
        ends.push_back(step.end);
    return ends;
}

std::vector<TransferTotals> Accounting::transfer_totals() const
{
    return engine::transfer_totals(sums_);
}

} // namespace trainyard::engine
