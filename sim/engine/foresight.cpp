#include "sim/engine/foresight.h"

#include <algorithm>
#include <bit>

namespace trainyard::engine {

namespace {

constexpr std::size_t lanes_ahead = 8; // places before its turn
constexpr std::size_t links_ahead = 4;

} // namespace

void Foresight::look_ahead()
{
    if (!queue_.has_front())
        return;
    const std::span<const Event> front = queue_.front();
    const std::size_t last = front.size() - 1;
    if (queue_.moved()) {
        seen_ = 0;
        per_event_ = queue_.next().size() / front.size() + 1;
        for (std::size_t i = 0; i <= std::min(last, lanes_ahead); ++i)
            fetch_lanes(front[last - i]);
        for (std::size_t i = 0; i <= std::min(last, links_ahead); ++i)
            fetch_links(front[last - i]);
    } else {
        if (last >= lanes_ahead)
            fetch_lanes(front[last - lanes_ahead]);
        if (last >= links_ahead)
            fetch_links(front[last - links_ahead]);
    }
    const std::span<const Event> next = queue_.next();
    for (std::size_t i = 0; i < per_event_ && seen_ < next.size(); ++i)
        fetch_target(next[seen_++]);
}

void Foresight::find_compute_stream()
{
    const std::vector<StreamPlan>& streams = run_.kind_of(0).streams;
    const auto found = std::ranges::find(streams, StreamKind::compute, &StreamPlan::kind);
    if (found != streams.end())
        compute_ = static_cast<std::uint32_t>(found - streams.begin());
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

// Streams whose heads may start when the head of this one finishes.
void Foresight::fetch_waiters(std::uint32_t index) const
{
    const StreamState& stream = run_.streams[index];
    if (stream.done + 1 < stream.release_at)
        return;
    const std::uint32_t first = run_.stream_index(run_.lane_of(index), 0);
    for (std::uint32_t left = stream.waiters; left != 0; left &= left - 1)
        prefetch(&run_.streams[first + static_cast<std::uint32_t>(std::countr_zero(left))]);
}

void Foresight::fetch_lanes(const Event& event) const
{
    if ((event.target & transfer_bit) == 0) {
        if ((event.target & window_bit) == 0)
            fetch_waiters(event.target);
        return;
    }
    const Transfer& transfer = run_.transfers[event.target & ~transfer_bit];
    for (const std::uint32_t stream : {transfer.sender, transfer.receiver, transfer.first_member})
        if (stream != nobody)
            fetch_stream(stream);
    if (!transfer.links.empty())
        prefetch(transfer.links.data());
    table_.prefetch_channel(transfer.channel);
    if (table_.is_group(transfer.channel))
        prefetch(&run_.binding.groups[transfer.channel].members);
}

// The transfer that the op at the head of a stream joins.
void Foresight::fetch_joined(std::uint32_t index) const
{
    const StreamState& stream = run_.streams[index];
    const std::uint32_t lane = run_.lane_of(index);
    if (stream.state != HeadState::waits_for_op)
        return;
    const LaneKind& kind = run_.kind_of(lane);
    const FlatOp& op = kind.ops[stream.head];
    if (op.kind == OpKind::collective)
        fetch_transfer(table_.group_channel(run_.group_of(lane, op.group)));
    else if (op.part_count > 0)
        fetch_transfer(
            table_.pipe_channel(run_.ways[run_.way_of(lane, kind.parts[op.part_first])].pipe));
}

void Foresight::fetch_transfer(std::uint32_t channel) const
{
    const std::uint32_t id = table_.first(channel);
    if (id != nobody)
        prefetch(&run_.transfers[id]);
}

// Of a collective; most join on one stream.
void Foresight::fetch_members(const Transfer& transfer) const
{
    constexpr std::size_t most = 16;
    const std::uint32_t stream =
        transfer.first_member - run_.stream_index(run_.lane_of(transfer.first_member), 0);
    const std::vector<LaneId>& members = run_.binding.groups[transfer.channel].members;
    for (std::size_t i = 0; i < std::min(members.size(), most); ++i)
        fetch_stream(run_.stream_index(members[i].value, stream));
}

void Foresight::fetch_links(const Event& event) const
{
    if ((event.target & transfer_bit) != 0) {
        const Transfer& transfer = run_.transfers[event.target & ~transfer_bit];
        if (!transfer.links.empty())
            rates_.prefetch_links(transfer);
        if (transfer.first_member != nobody)
            fetch_members(transfer);
        return;
    }
    if ((event.target & window_bit) != 0)
        return;
    const StreamState& stream = run_.streams[event.target];
    if (stream.done + 1 < stream.release_at)
        return;
    const std::uint32_t first = run_.stream_index(run_.lane_of(event.target), 0);
    for (std::uint32_t left = stream.waiters; left != 0; left &= left - 1)
        fetch_joined(first + static_cast<std::uint32_t>(std::countr_zero(left)));
}

} // namespace trainyard::engine
