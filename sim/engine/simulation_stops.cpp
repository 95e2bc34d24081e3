#include "sim/engine/host_issue.h"
#include "sim/engine/simulation.h"

namespace trainyard::engine {

void Simulation::queue_stops()
{
    for (std::uint32_t l = 0; l < run_.lanes.size(); ++l)
        if (const Stop& stop = run_.binding.lanes[l].stop; stop.ever())
            queue_.push({stop.at, l | window_bit, stopping});
}

// Whether the lane's host has stopped.
bool Simulation::stopped(std::uint32_t lane) const
{
    return run_.now >= run_.binding.lanes[lane].stop.at;
}

// Lanes that stop now: what ends now has ended, nothing has begun yet.
void Simulation::stop_lanes()
{
    for (const std::uint32_t lane : stopping_)
        if (run_.binding.lanes[lane].stop.kind == StopKind::dies)
            bury(lane);
        else
            hang(lane);
    stopping_.clear();
}

// The host goes no further than the queues of its streams let it: the first of them to be full has
// held it up.
void Simulation::hang(std::uint32_t lane)
{
    IssuePlace& limit = run_.lanes[lane].issue_limit;
    for (std::size_t s = 0; s < run_.kind_of(lane).streams.size(); ++s)
        limit = std::min(limit, first_without_room(run_, run_.stream_index(lane, s)));
}

void Simulation::bury(std::uint32_t lane)
{
    touch(lane);
    run_.lanes[lane].dead = true;
    break_transfers(lane);
    for (std::size_t s = 0; s < run_.kind_of(lane).streams.size(); ++s) {
        StreamState& stream = run_.streams[run_.stream_index(lane, s)];
        if (stream.state == HeadState::finished)
            continue;
        ++stream.version;
        stream.state = HeadState::lost;
    }
}

// All transfers that the lane has joined.
void Simulation::break_transfers(std::uint32_t lane)
{
    const auto takes_part = [&](const Transfer& transfer) {
        for (const std::uint32_t end : {transfer.sender, transfer.receiver})
            if (end != nobody && run_.lane_of(end) == lane)
                return true;
        for (std::uint32_t member = transfer.first_member; member != nobody;
             member = run_.streams[member].next_member)
            if (run_.lane_of(member) == lane)
                return true;
        return false;
    };
    const auto look_into = [&](std::uint32_t channel) {
        for (std::uint32_t id = table_.first(channel); id != nobody; id = run_.transfers[id].next)
            if (run_.transfers[id].state != TransferState::delivered &&
                takes_part(run_.transfers[id]))
                break_off(id);
    };
    for (const GroupId group : run_.binding.lanes[lane].groups)
        if (group.valid())
            look_into(table_.group_channel(group));
    const std::vector<std::uint32_t>& firsts = run_.compiled.lane_pipe_first;
    const std::size_t end =
        lane + 1 < firsts.size() ? firsts[lane + 1] : run_.compiled.lane_pipes.size();
    for (std::size_t i = firsts[lane]; i < end; ++i)
        look_into(table_.pipe_channel(run_.compiled.lane_pipes[i]));
}

// The transfer moves nothing from now on, and never ends.
void Simulation::break_off(std::uint32_t id)
{
    Transfer& transfer = run_.transfers[id];
    if (transfer.state == TransferState::moving)
        rates_.end_transfer(id);
    transfer.state = TransferState::broken;
    ++transfer.version;
}

// The op at the head of a stream ends at `end`, unless the lane's host stops before.
void Simulation::push_end(std::uint32_t index, SimTime end)
{
    const std::uint32_t lane = run_.lane_of(index);
    StreamState& stream = run_.streams[index];
    if (!run_.lanes[lane].plain && endless(lane, index, end))
        stream.state = HeadState::endless;
    else
        queue_.push({end, index, stream.version});
}

// Whether the lane's host stops before it has issued the rest of the head, or within a host op.
bool Simulation::endless(std::uint32_t lane, std::uint32_t index, SimTime end) const
{
    const Stop& stop = run_.binding.lanes[lane].stop;
    const FlatOp& op = run_.head(index);
    if (!stop.ever() || op.by_itself)
        return false;
    if (op.kind == OpKind::host)
        return end > stop.at;
    const LaneState& state = run_.lanes[lane];
    const std::uint32_t step = run_.streams[index].step;
    return state.host_segment == barriers_before(run_.kind_of(lane), op, step) &&
           issue_time(run_, lane, op, step, state.host_base) + op.issue_rest >= stop.at;
}

} // namespace trainyard::engine
