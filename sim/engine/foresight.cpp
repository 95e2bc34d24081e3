#include "sim/engine/foresight.h"

#include <algorithm>
#include <array>
#include <bit>

namespace trainyard::engine {

namespace {

constexpr std::size_t least_lanes = 8192; // for fewer it costs what it saves
constexpr std::array<std::size_t, 4> stage_places = {9, 6, 4, 2}; // before an event's turn

} // namespace

Foresight::Foresight(const RunState& run, EventQueue& queue, const TransferTable& table,
                     const Accounting& accounting, const Rates& rates, bool wanted)
    : run_(run),
      queue_(queue),
      table_(table),
      accounting_(accounting),
      rates_(rates),
      worth_it_(wanted && run.lanes.size() >= least_lanes)
{
    if (!worth_it_)
        return;
    const std::vector<StreamPlan>& streams = run_.kind_of(0).streams;
    const auto found = std::ranges::find(streams, StreamKind::compute, &StreamPlan::kind);
    if (found != streams.end())
        compute_ = static_cast<std::uint32_t>(found - streams.begin());
}

void Foresight::look_ahead()
{
    if (!queue_.has_front())
        return;
    const std::span<const Event> front = queue_.front();
    const std::size_t last = front.size() - 1;
    const bool moved = queue_.moved();
    for (std::size_t stage = 0; stage < stage_places.size(); ++stage)
        for (std::size_t place = moved ? 0 : stage_places[stage];
             place <= std::min(last, stage_places[stage]); ++place)
            fetch(front[last - place], stage);
    const std::span<const Event> next = queue_.next();
    if (moved) {
        seen_ = 0;
        per_event_ = next.size() / front.size() + 1;
    }
    for (std::size_t i = 0; i < per_event_ && seen_ < next.size(); ++i)
        fetch_target(next[seen_++]);
}

void Foresight::fetch_target(const Event& event) const
{
    if ((event.target & transfer_bit) != 0) {
        const Transfer& transfer = run_.transfers[event.target & ~transfer_bit];
        prefetch(&transfer);
        prefetch(&transfer.remaining);
    } else if ((event.target & window_bit) == 0) {
        fetch_stream(event.target);
    }
}

// A stream that something will happen to, and what the lane's time is charged by.
void Foresight::fetch_stream(std::uint32_t stream) const
{
    const std::uint32_t lane = run_.lane_of(stream);
    prefetch(&run_.streams[stream]);
    prefetch(&run_.streams[run_.stream_index(lane, compute_)]);
    prefetch(&run_.lanes[lane]);
    accounting_.prefetch_lane(lane);
}

void Foresight::fetch(const Event& event, std::size_t stage) const
{
    if ((event.target & transfer_bit) == 0) {
        if ((event.target & window_bit) == 0)
            fetch_for_stream(event.target, stage);
        return;
    }
    const Transfer& transfer = run_.transfers[event.target & ~transfer_bit];
    if (transfer.steps != nobody) // its sends follow one another on few lines
        return;
    if (transfer.sender != nobody)
        fetch_for_message(transfer, stage);
    else if (transfer.first_member != nobody)
        fetch_for_collective(transfer, stage);
}

void Foresight::fetch_for_stream(std::uint32_t stream, std::size_t stage) const
{
    for_each_waiter(stream, [&](std::uint32_t waiter) {
        if (stage == 0)
            prefetch(&run_.streams[waiter]);
        else if (run_.streams[waiter].state == HeadState::waits_for_op)
            fetch_join(run_.lane_of(waiter), run_.head(waiter), static_cast<Depth>(stage - 1));
    });
}

void Foresight::fetch_for_message(const Transfer& transfer, std::size_t stage) const
{
    for (const std::uint32_t stream : {transfer.sender, transfer.receiver}) {
        if (stream == nobody)
            continue;
        if (stage == 0)
            fetch_stream(stream);
        else
            fetch_next(stream, static_cast<Depth>(stage - 1));
    }
    if (stage == 0) {
        prefetch(transfer.links.data());
        table_.prefetch_channel(transfer.channel);
    } else if (stage == 1) {
        rates_.prefetch_links(transfer);
    }
}

void Foresight::fetch_for_collective(const Transfer& transfer, std::size_t stage) const
{
    constexpr std::size_t most = 16; // members
    if (!table_.is_group(transfer.channel))
        return;
    const Group& group = run_.binding.groups[transfer.channel];
    if (stage == 0) {
        table_.prefetch_channel(transfer.channel);
        return prefetch(&group.members);
    }
    if (stage == 1)
        return prefetch(group.members.data());
    // Most members join on one stream.
    const std::uint32_t stream =
        transfer.first_member - run_.stream_index(run_.lane_of(transfer.first_member), 0);
    for (std::size_t i = 0; i < std::min(group.members.size(), most); ++i) {
        const std::uint32_t member = run_.stream_index(group.members[i].value, stream);
        if (stage == 2)
            fetch_stream(member);
        else
            for_each_waiter(member, [&](std::uint32_t waiter) { prefetch(&run_.streams[waiter]); });
    }
}

// Streams whose heads may start when the head of this one finishes.
template <class Visit>
void Foresight::for_each_waiter(std::uint32_t index, const Visit& visit) const
{
    const StreamState& stream = run_.streams[index];
    if (stream.done + stream.chained + 1 < stream.release_at)
        return;
    const std::uint32_t first = run_.stream_index(run_.lane_of(index), 0);
    for (std::uint32_t left = stream.waiters; left != 0; left &= left - 1)
        visit(first + static_cast<std::uint32_t>(std::countr_zero(left)));
}

// For the op behind the head of a stream.
void Foresight::fetch_next(std::uint32_t index, Depth depth) const
{
    const LaneKind& kind = run_.kind_of(run_.lane_of(index));
    const std::size_t next = std::size_t{run_.streams[index].head} + 1;
    if (next < kind.ops.size())
        fetch_join(run_.lane_of(index), kind.ops[next], depth);
}

void Foresight::fetch_join(std::uint32_t lane, const FlatOp& op, Depth depth) const
{
    std::uint32_t channel = 0;
    if (op.kind == OpKind::collective) {
        channel = table_.group_channel(run_.group_of(lane, op.group));
    } else if (op.kind == OpKind::exchange && op.part_count > 0) {
        const std::uint32_t way = run_.way_of(lane, run_.kind_of(lane).parts[op.part_first]);
        if (depth == Depth::place)
            return prefetch(&run_.ways[way]);
        channel = table_.pipe_channel(run_.ways[way].pipe);
    } else {
        return;
    }
    if (depth != Depth::transfer)
        return table_.prefetch_channel(channel);
    const std::uint32_t id = table_.first(channel);
    if (id != nobody)
        prefetch(&run_.transfers[id]);
}

} // namespace trainyard::engine
