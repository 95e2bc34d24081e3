#include "sim/engine/standstill.h"

#include "sim/engine/host_issue.h"
#include "sim/engine/recorder.h"
#include "sim/engine/simulation.h"
#include "sim/engine/transfer_table.h"

#include <algorithm>
#include <ranges>
#include <tuple>

namespace trainyard {

bool any_stops(const Binding& binding)
{
    return std::ranges::any_of(binding.lanes, [](const Lane& lane) { return lane.stop.ever(); });
}

Checked<std::optional<Standstill>> find_standstill(const Program& program, const Binding& binding,
                                                   const RunControl& control)
{
    return engine::Simulation(program, binding, control, control.mechanisms).run_to_standstill();
}

namespace engine {

namespace {

OpPlace op_place(const RunState& run, std::uint32_t stream, const FlatOp& op, std::uint32_t step)
{
    return {op.label,       op.kind,  run.plan_of(stream).id,
            op.micro_batch, op.layer, static_cast<std::uint16_t>(step)};
}

// The waits that run state and transfers show, in no order yet.
class Waits {
public:
    Waits(const RunState& run, const TransferTable& table, const Recorder& recorder)
        : run_(run), table_(table), recorder_(recorder), here_(run.lanes.size(), nobody)
    {}

    std::vector<Wait> all(std::span<const std::uint32_t> stalled)
    {
        std::vector<Wait> waits;
        for (const std::uint32_t id : stalled)
            waits.push_back(wait_of(run_.transfers[id]));
        const auto channels =
            static_cast<std::uint32_t>(run_.binding.groups.size()) + run_.compiled.pipes;
        for (std::uint32_t channel = 0; channel < channels; ++channel)
            for (std::uint32_t id = table_.first(channel); id != nobody;
                 id = run_.transfers[id].next) {
                const TransferState state = run_.transfers[id].state;
                if (state == TransferState::gathering || state == TransferState::broken)
                    waits.push_back(wait_of(run_.transfers[id]));
            }
        std::erase_if(waits, [](const Wait& wait) { return wait.here.empty(); });
        return waits;
    }

private:
    Wait wait_of(const Transfer& transfer)
    {
        Wait wait;
        wait.sequence = transfer.sequence;
        if (transfer.state == TransferState::broken)
            wait.cause = WaitCause::death;
        if (table_.is_group(transfer.channel))
            add_members(transfer, wait);
        else
            add_ends(transfer, wait);
        if (transfer.state == TransferState::moving || transfer.state == TransferState::stepping)
            blame_link(transfer, wait);
        std::ranges::sort(wait.here, {}, &Waiter::lane);
        return wait;
    }

    void add_members(const Transfer& transfer, Wait& wait)
    {
        wait.group = make_id<GroupId>(transfer.channel);
        ++stamp_;
        for (std::uint32_t member = transfer.first_member; member != nobody;
             member = run_.streams[member].next_member)
            add(member, wait);
        for (const LaneId member : run_.binding.groups[transfer.channel].members)
            if (here_[member.value] != stamp_)
                wait.missing.push_back(member);
    }

    void add_ends(const Transfer& transfer, Wait& wait)
    {
        ++stamp_;
        const bool has_sender = transfer.sender != nobody;
        const std::uint32_t known = has_sender ? transfer.sender : transfer.receiver;
        const LaneId one{run_.lane_of(known)};
        const LaneId other{neighbour(known, transfer.channel)};
        wait.from = has_sender ? one : other;
        wait.to = has_sender ? other : one;
        for (const std::uint32_t end : {transfer.sender, transfer.receiver})
            if (end != nobody)
                add(end, wait);
        for (const LaneId lane : {wait.from, wait.to})
            if (here_[lane.value] != stamp_)
                wait.missing.push_back(lane);
    }

    // Who is dead waits for nobody.
    void add(std::uint32_t stream, Wait& wait)
    {
        const std::uint32_t lane = run_.lane_of(stream);
        if (run_.lanes[lane].dead)
            return;
        here_[lane] = stamp_;
        const StreamState& state = run_.streams[stream];
        wait.here.push_back({LaneId{lane}, op_place(run_, stream, run_.head(stream), state.step),
                             recorder_.keeps_segments() ? recorder_.issued(stream) : state.start,
                             state.start});
    }

    void blame_link(const Transfer& transfer, Wait& wait)
    {
        wait.cause = WaitCause::dead_link;
        for (const LinkUse& use : transfer.links)
            if (run_.binding.links[use.link.value].value() == 0)
                wait.link = use.link;
    }

    // The other end of the part of this exchange that belongs to the channel.
    std::uint32_t neighbour(std::uint32_t stream, std::uint32_t channel) const
    {
        const std::uint32_t lane = run_.lane_of(stream);
        const LaneKind& kind = run_.kind_of(lane);
        const FlatOp& op = run_.head(stream);
        for (std::size_t i = 0; i < op.part_count; ++i) {
            const PartPlan& part = kind.parts[op.part_first + i];
            const std::uint32_t pipe =
                run_.compiled.lane_pipes[run_.compiled.lane_pipe_first[lane] + part.pipe];
            if (table_.pipe_channel(pipe) == channel)
                return run_.binding.lanes[lane].peers[part.peer.value].lane.value;
        }
        return lane;
    }

    const RunState& run_;
    const TransferTable& table_;
    const Recorder& recorder_;
    std::vector<std::uint32_t> here_; // by lane: the last wait that it was found in
    std::uint32_t stamp_ = 0;
};

// The first op, as the host issues them, that it had not issued when it stopped.
OpPlace first_unissued(const RunState& run, std::uint32_t lane)
{
    const LaneKind& kind = run.kind_of(lane);
    const LaneState& state = run.lanes[lane];
    const SimTime stop = run.binding.lanes[lane].stop.at;
    IssuePlace first{run.steps, nobody};
    OpPlace place;
    for (std::uint32_t step = 0; step < run.steps; ++step)
        for (std::size_t s = 0; s < kind.streams.size(); ++s) {
            const StreamPlan& stream = kind.streams[s];
            for (std::uint32_t i = 0; i < stream.op_count; ++i) {
                const FlatOp& op = kind.ops[stream.op_first + i];
                const std::uint32_t barriers = barriers_before(kind, op, step);
                const bool issued =
                    op.by_itself || barriers < state.host_segment ||
                    (barriers == state.host_segment && place_of(op, step) < state.issue_limit &&
                     issue_time(run, lane, op, step, state.host_base) + op.issue_rest < stop);
                if (issued || place_of(op, step) >= first)
                    continue;
                first = place_of(op, step);
                place = op_place(run, run.stream_index(lane, s), op, step);
            }
        }
    return place;
}

// The first op, as the host issues them, that has not ended.
OpPlace first_open(const RunState& run, std::uint32_t lane)
{
    IssuePlace first{run.steps, nobody};
    OpPlace place;
    for (std::size_t s = 0; s < run.kind_of(lane).streams.size(); ++s) {
        const std::uint32_t index = run.stream_index(lane, s);
        const StreamState& stream = run.streams[index];
        if (stream.state == HeadState::finished)
            continue;
        const FlatOp& op = run.head(index);
        if (op.by_itself || place_of(op, stream.step) >= first)
            continue;
        first = place_of(op, stream.step);
        place = op_place(run, index, op, stream.step);
    }
    return place;
}

bool has_finished(const RunState& run, std::uint32_t lane)
{
    for (std::size_t s = 0; s < run.kind_of(lane).streams.size(); ++s)
        if (run.streams[run.stream_index(lane, s)].state != HeadState::finished)
            return false;
    return true;
}

// Whether the lane lacks something since it stopped.
bool stopped_short(const RunState& run, std::uint32_t lane)
{
    for (std::size_t s = 0; s < run.kind_of(lane).streams.size(); ++s) {
        const HeadState state = run.streams[run.stream_index(lane, s)].state;
        if (state == HeadState::unissued || state == HeadState::endless || state == HeadState::lost)
            return true;
    }
    return false;
}

std::vector<Culprit> culprits_of(const RunState& run)
{
    std::vector<Culprit> culprits;
    for (std::uint32_t lane = 0; lane < run.lanes.size(); ++lane) {
        const Stop& stop = run.binding.lanes[lane].stop;
        const bool short_of = stop.ever() && (stopped_short(run, lane) ||
                                              (stop.at <= run.now && !has_finished(run, lane)));
        if (!short_of)
            continue;
        const OpPlace place =
            stop.kind == StopKind::hangs ? first_unissued(run, lane) : first_open(run, lane);
        if (place.label.valid()) // else its host had issued everything
            culprits.push_back({LaneId{lane}, stop, place});
    }
    std::ranges::stable_sort(culprits, {}, [](const Culprit& culprit) { return culprit.stop.at; });
    return culprits;
}

// From those for whom others wait outwards, breadth first.
void find_distances(const Standstill& stop, std::vector<Wait>& waits, std::size_t lanes)
{
    std::vector<std::vector<std::uint32_t>> waits_for(lanes); // by lane: the waits it misses
    for (std::uint32_t w = 0; w < waits.size(); ++w)
        for (const LaneId lane : waits[w].missing)
            waits_for[lane.value].push_back(w);
    std::vector<int> distance(lanes, -1);
    std::vector<LaneId> next;
    const auto reach = [&](LaneId lane, int steps) {
        if (distance[lane.value] >= 0)
            return;
        distance[lane.value] = steps;
        next.push_back(lane);
    };
    const auto settle = [&](Wait& wait, int steps) {
        if (wait.distance > 0)
            return;
        wait.distance = steps;
        for (const Waiter& waiter : wait.here)
            reach(waiter.lane, steps);
    };
    for (const Culprit& culprit : stop.culprits)
        reach(culprit.lane, 0);
    for (const LaneId lane : stop.finished)
        reach(lane, 0);
    for (Wait& wait : waits)
        if (wait.cause == WaitCause::dead_link)
            settle(wait, 1);
    for (std::size_t i = 0; i < next.size(); ++i)
        for (const std::uint32_t w : waits_for[next[i].value])
            settle(waits[w], distance[next[i].value] + 1);
}

SimTime began(const Wait& wait)
{
    return std::ranges::min(wait.here, {}, &Waiter::arrived).arrived;
}

} // namespace

Standstill standstill(const RunState& run, const TransferTable& table,
                      std::span<const std::uint32_t> stalled, const Recorder& recorder)
{
    Standstill out;
    out.culprits = culprits_of(run);
    std::vector<Wait> waits = Waits(run, table, recorder).all(stalled);
    std::vector<bool> missed(run.lanes.size());
    for (const Wait& wait : waits)
        for (const LaneId lane : wait.missing)
            missed[lane.value] = true;
    for (std::uint32_t lane = 0; lane < run.lanes.size(); ++lane)
        if (missed[lane] && has_finished(run, lane))
            out.finished.push_back(LaneId{lane});
    find_distances(out, waits, run.lanes.size());
    std::ranges::stable_sort(
        waits, {}, [](const Wait& wait) { return std::tuple(wait.distance, began(wait)); });
    for (const Culprit& culprit : out.culprits)
        out.at = std::max(out.at, culprit.stop.at);
    for (const Wait& wait : waits)
        for (const Waiter& waiter : wait.here)
            out.at = std::max(out.at, waiter.arrived);
    out.waits = std::move(waits);
    return out;
}

} // namespace engine
} // namespace trainyard
