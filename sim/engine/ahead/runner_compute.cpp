#include "sim/engine/ahead/runner.h"

#include <algorithm>
#include <bit>

namespace trainyard::engine::ahead {

// Whether some transfer of the stream takes anything from compute.
bool Runner::slows(std::uint32_t l, const StreamPlan& plan) const
{
    const LaneKind& kind = *lanes_[l].kind;
    const auto takes = [](const TransferCost& cost) {
        return cost.sm_share > 0 || cost.traffic_share > 0;
    };
    const auto first = kind.ops.begin() + plan.op_first;
    return interferes_ && std::any_of(first, first + plan.op_count, [&](const FlatOp& op) {
               const auto part = kind.parts.begin() + op.part_first;
               return (op.kind == OpKind::collective && takes(collective_cost(l, op))) ||
                      std::any_of(part, part + op.part_count,
                                  [&](const PartPlan& of) { return takes(part_cost(l, of)); });
           });
}

// Whether the end of a compute op is known.
bool Runner::drain(StreamRun& stream)
{
    if (skip_passages(stream))
        return true;
    stream.end = lanes_[stream.lane].loads.end_of(stream.start, stream.work);
    if (stream.end > quiet_until(stream))
        return false;
    end_compute(stream, stream.end);
    return true;
}

// Whether the end of some compute op of the lane is known by now. Requires all other heads to have
// been looked at.
bool Runner::settle_drains(std::uint32_t lane)
{
    for (StreamMask left = lanes_[lane].draining; left != 0; left &= left - 1)
        if (drain(stream_at(lane, static_cast<std::size_t>(std::countr_zero(left)))))
            return true; // others may go on
    return false;
}

// Queues the ends of the lane's compute that other events may still change, as things stand.
void Runner::queue_drains(std::uint32_t lane)
{
    for (StreamMask left = lanes_[lane].draining; left != 0; left &= left - 1) {
        StreamRun& stream = stream_at(lane, static_cast<std::size_t>(std::countr_zero(left)));
        if (stream.end == stream.queued)
            continue;
        stream.queued = stream.end;
        // A stream that had too many steps in flight comes behind what the queue has come to.
        queue_.push({SimTime(std::max(stream.end, settled_)), number_of(stream), ++stream.version});
    }
}

// Settles the first of all ends that are not known: nothing that is not known can come before it.
void Runner::settle_first_end()
{
    queue_.advance();
    const Event event = queue_.pop();
    StreamRun& stream = streams_[event.target];
    if (stream.state != State::drains || stream.version != event.version)
        return;
    ++events_;
    settled_ = event.time.value();
    end_compute(stream, stream.end);
    wake(stream.lane);
}

// Ends the device work of a compute op at a time that is known.
void Runner::end_compute(StreamRun& stream, Time device)
{
    if (measured(stream))
        note_work(stream, device);
    const std::uint32_t lane = stream.lane;
    const Time end = std::max(device, stream.least);
    if (device < stream.least && watched(stream))
        stop_watching(lanes_[lane]);
    ++stream.version;
    lanes_[lane].draining &= ~(StreamMask{1} << stream.index);
    record(stream, SimTime(stream.start), Bytes(0), LaneId::none(), end);
    finish(stream, end);
    if (interferes_)
        forget(lane);
}

// Notes how much work the compute op drains in the measured step.
void Runner::note_work(const StreamRun& stream, Time device)
{
    LaneRun& lane = lanes_[stream.lane];
    replay::LaneTimes& times = accounting_->times(stream.lane);
    const std::uint32_t o = op_index(stream);
    times.device[o] = device;
    times.left[o] = stream.work;
    if (stream.start >= lane.opened)
        return;
    if (lane.opened != never)
        times.left[o] = lane.loads.left_at(lane.opened, stream.start, stream.work);
    else
        lane.early.push_back(o);
}

// Until when all is known of what communication takes of the device, except for what waits for the
// compute at the head of a stream.
Time Runner::quiet_until(const StreamRun& computing) const
{
    Time until = never;
    const StreamMask others = ~(StreamMask{1} << computing.index | computing.waiters);
    for (StreamMask left = lanes_[computing.lane].slowing & others; left != 0; left &= left - 1)
        until = std::min(
            until,
            quiet_until(stream_at(computing.lane, static_cast<std::size_t>(std::countr_zero(left))),
                        computing));
    return until;
}

// The same for the transfers of one stream: it follows what the head waits for.
Time Runner::quiet_until(const StreamRun& transfers, const StreamRun& computing) const
{
    const LaneRun& lane = lanes_[computing.lane];
    const HostPlan& host = lane.kind->host;
    Time known = 0;
    for (const StreamRun* stream = &transfers;;) {
        if (stream == &computing || stream->state == State::finished)
            return never;
        if (stream->state == State::joined)
            return std::max(known, stream->quiet);
        if (stream->state == State::drains)
            return std::max(known, stream->start);
        known = std::max(known, stream->ready);
        if (stream->blocked_by == BlockedBy::op)
            stream = &stream_at(computing.lane, stream->blocking_stream);
        else if (stream->blocked_by == BlockedBy::host)
            stream = &stream_at(computing.lane,
                                host.barrier_streams[(lane.bases.size() - 1) % host.barriers]);
        else
            return known;
    }
}

// Drops the loads that no compute op to come can ask for.
void Runner::forget(std::uint32_t l)
{
    LaneRun& lane = lanes_[l];
    Time first = never;
    for (StreamMask left = lane.computing; left != 0; left &= left - 1) {
        const StreamRun& stream = stream_at(l, static_cast<std::size_t>(std::countr_zero(left)));
        if (stream.state != State::finished)
            first = std::min(first, stream.state == State::waits ? stream.ready : stream.start);
    }
    for (const std::uint32_t o : lane.early)
        first = std::min(first, accounting_->times(l).start[o]);
    if (first != never)
        lane.loads.forget(first);
}

// Lets the head of a stream take `change` more of its lane's device from `at` on.
void Runner::load(const StreamRun& stream, Time at, std::int64_t change)
{
    if (change == 0)
        return;
    LaneRun& lane = lanes_[stream.lane];
    if (at < settled_)
        gave_up_ = true; // it comes too late
    lane.loads.add(at, change);
    lane.unsettled = true;
    if (lane.watch.passage == nullptr)
        return;
    if (watched(stream))
        lane.learned[lane.watch.passage->shape].takes.push_back({at - lane.watch.begin, change});
    else
        stop_watching(lane);
}

} // namespace trainyard::engine::ahead
