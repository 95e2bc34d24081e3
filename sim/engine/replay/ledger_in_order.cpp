// Lanes that compute on one stream: each gap in it belongs to what its next op waits for.

#include "sim/engine/replay/ledger.h"

#include <algorithm>

namespace trainyard::engine::replay {

// Charges the ops of the only stream that computes, and the gaps between them. Gives when the last
// ends.
Time Ledger::charge_in_order(const LaneTimes& times, Time from, LaneCharges& charges,
                             const RepeatedOps& repeated)
{
    const StreamPlan& stream = kind_.streams[compute_];
    LaneCharges before;
    Time now = from;
    for (std::uint32_t p = first_[compute_]; p < stream.op_count; ++p) {
        if (repeated.times > 0 && p == repeated.first)
            before = charges;
        if (repeated.times > 0 && p == repeated.end)
            charges.repeat_since(before, repeated.times);
        const std::uint32_t o = stream.op_first + p;
        if (times.end[o] <= now)
            continue;
        if (times.start[o] > now) {
            charge_gap(times, o, now, charges);
            now = times.start[o];
        }
        if (kind_.ops[o].kind == OpKind::compute)
            charge_compute(times, o, now, charges);
        else
            charge_op(times, o, now, times.end[o], charges);
        now = times.end[o];
    }
    return now;
}

void Ledger::charge_compute(const LaneTimes& times, std::uint32_t o, Time begin,
                            LaneCharges& charges)
{
    const Time device = std::max(times.device[o], begin);
    charges.work[phase_index(kind_.ops[o].phase)] += times.left[o];
    charges.compute_busy += device - begin;
    charges.of(TimeKind::host) += times.end[o] - device;
}

// Charges the time until the op starts: follows what it waits for, and what that waits for.
void Ledger::charge_gap(const LaneTimes& times, std::uint32_t waiting, Time begin,
                        LaneCharges& charges)
{
    const Time until = times.start[waiting];
    for (Time now = begin; now < until;) {
        std::uint32_t o = waiting;
        std::uint8_t behind = awaited(times, kind_.ops[o], now);
        while (behind != no_stream) {
            std::uint32_t& next = next_[behind];
            while (times.end[kind_.streams[behind].op_first + next] <= now)
                ++next;
            o = kind_.streams[behind].op_first + next;
            if (times.start[o] <= now)
                break;
            behind = awaited(times, kind_.ops[o], now);
        }
        const Time end = std::min(until, behind == no_stream ? times.start[o] : times.end[o]);
        if (behind == no_stream)
            charges.of(TimeKind::host) += end - now; // which is about to issue it
        else
            charge_op(times, o, now, end, charges);
        now = end;
    }
}

// Charges a piece of an op that does not compute, or of a transfer whose members are gathering.
void Ledger::charge_op(const LaneTimes& times, std::uint32_t o, Time begin, Time end,
                       LaneCharges& charges) const
{
    const FlatOp& op = kind_.ops[o];
    if (op.kind != OpKind::collective && op.kind != OpKind::exchange) {
        const bool data = op.kind == OpKind::copy || op.phase == Phase::data;
        charges.of(data ? TimeKind::data : TimeKind::host) += end - begin;
        return;
    }
    const Time exposed = moving(times, o, begin, end);
    const bool stages = op.kind == OpKind::exchange || stages_[op.group.value] != 0;
    charges.of(waiting_kind(op.kind, stages)) += end - begin - exposed;
    const Label& label = program_.labels[op.label.value];
    charges.of(exposed_kind(label.group)) += exposed;
    charges.exposed[transfer_class(label)] += exposed;
}

// How long data of a transfer op moves between `begin` and `end`.
Time Ledger::moving(const LaneTimes& times, std::uint32_t o, Time begin, Time end) const
{
    const FlatOp& op = kind_.ops[o];
    if (op.kind == OpKind::collective)
        return end - std::clamp(times.begin[o], begin, end);
    Time sum = 0;
    for (Time now = begin; now < end;) {
        Time from = end;  // when some part moves next
        Time until = end; // and ends
        for (std::uint32_t p = op.part_first; p < op.part_first + op.part_count; ++p) {
            const Time part = std::max(times.part_begin[p], now);
            if (part < from && times.part_end[p] > part) {
                from = part;
                until = std::min(end, times.part_end[p]);
            }
        }
        sum += until - from;
        now = until;
    }
    return sum;
}

} // namespace trainyard::engine::replay
