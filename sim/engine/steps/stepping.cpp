#include "sim/engine/steps/stepping.h"

#include <algorithm>
#include <utility>

namespace trainyard::engine {

Stepping::Stepping(RunState& run, EventQueue& queue, TransferTable& table, Rates& rates,
                   const StepChoice& choice, bool sweeps)
    : run_(run), queue_(queue), table_(table), rates_(rates), choice_(choice), sweeps_(sweeps)
{
    if (knows_steps(choice.fidelity()))
        place_of_.resize(run.lanes.size());
}

const StepPlan& Stepping::plan(GroupId group, StepShape shape)
{
    const auto [found, added] = plans_.try_emplace({group, shape});
    if (added)
        found->second = step_plan(run_.binding.groups[group.value], shape);
    return found->second;
}

// A collective to go step by step, none of whose members has come.
Stepping::Collective& Stepping::add(std::uint32_t id)
{
    if (free_.empty()) {
        free_.push_back(static_cast<std::uint32_t>(collectives_.size()));
        collectives_.emplace_back();
    }
    const std::uint32_t number = free_.back();
    free_.pop_back();
    Transfer& transfer = run_.transfers[id];
    transfer.steps = number;
    const GroupId group = make_id<GroupId>(transfer.channel);
    const CollectiveKind kind = run_.program.labels[transfer.label.value].collective;
    Collective& collective = collectives_[number];
    collective.transfer = id;
    collective.plan = &plan(group, choice_.shape(group, kind, transfer.cost->pattern));
    const StepPlan& steps = *collective.plan;
    collective.steps = step_count(steps.shape, kind, steps.ranks);
    collective.members_left = steps.members;
    collective.absent = steps.members;
    collective.sweep.on = false;
    collective.sweep.sends_until_next = static_cast<std::uint32_t>(steps.wires.size());
    collective.wires.assign(steps.wires.size(), {});
    collective.members.assign(steps.members, {.pending = 1});
    for (const Wire& wire : steps.wires) {
        ++collective.members[wire.from].pending;
        if (steps.shape != StepShape::direct)
            ++collective.members[wire.to].pending;
        else
            collective.members[wire.from].pending += collective.steps;
    }
    return collective;
}

std::uint32_t Stepping::add_send(const Collective& collective, std::uint32_t wire)
{
    const std::uint32_t id = table_.add();
    const Transfer& parent = run_.transfers[collective.transfer];
    Transfer& send = run_.transfers[id];
    const std::uint32_t member = collective.plan->wires[wire].from;
    send.cost = parent.cost;
    send.sender = collective.members[member].stream;
    send.abreast = static_cast<std::uint32_t>(collective.plan->leaving[member].size());
    send.parent = collective.transfer;
    send.steps = parent.steps;
    send.wire = wire;
    return id;
}

Pace Stepping::pace_of(const Collective& collective, std::uint32_t scale) const
{
    const TransferCost& cost = *run_.transfers[collective.transfer].cost;
    const SimTime latency =
        choice_.fidelity() == Fidelity::chunk ? cost.latency : SimTime(0); // else it is over
    return {Work{cost.work.value * scale >> 20}, cost.ceiling, latency,
            collective.steps + collective.plan->most_lag};
}

void Stepping::place_members(GroupId group)
{
    std::uint32_t place = 0;
    for (const LaneId member : run_.binding.groups[group.value].members)
        place_of_[member.value] = place++;
}

void Stepping::open(std::uint32_t id)
{
    place_members(make_id<GroupId>(run_.transfers[id].channel));
    Collective& collective = add(id);
    Transfer& transfer = run_.transfers[id];
    for (std::uint32_t stream = transfer.first_member; stream != nobody;
         stream = run_.streams[stream].next_member)
        collective.members[place_of_[run_.lane_of(stream)]] = {
            stream, collective.members[place_of_[run_.lane_of(stream)]].pending - 1};
    collective.paces.assign(1, pace_of(collective, transfer.scale));
    collective.absent = 0;
    if (transfer.state == TransferState::moving)
        rates_.end_transfer(id);
    transfer.state = TransferState::stepping;
    transfer.may_step = false;
    const Pace::Place place =
        collective.paces[0].place_after(run_.now - transfer.start - transfer.cost->latency);
    for (std::uint32_t w = 0; w < collective.wires.size(); ++w) {
        const std::uint32_t send = add_send(collective, w); // transfers may move
        collective.wires[w] = {send, place.round, WireState::moving};
        run_.transfers[send].links = collective.plan->links(collective.plan->wires[w], place.round);
        run_.transfers[send].remaining = place.left;
        rates_.start_transfer(send);
    }
}

void Stepping::arrive(std::uint32_t id, std::uint32_t stream)
{
    if (run_.transfers[id].steps == nobody) {
        Collective& collective = add(id);
        collective.paces.assign(collective.plan->members, {});
        sweep_new(collective);
    }
    const Transfer& transfer = run_.transfers[id];
    Collective& collective = collectives_[transfer.steps];
    if (collective.arrivals.empty())
        queue_.push({run_.now, id | transfer_bit, transfer.version});
    collective.arrivals.push_back(stream);
}

void Stepping::handle_collective(std::uint32_t id)
{
    place_members(make_id<GroupId>(run_.transfers[id].channel));
    Collective& collective = collectives_[run_.transfers[id].steps];
    for (const std::uint32_t stream : collective.arrivals)
        come(collective, stream);
    collective.arrivals.clear();
    if (collective.sweep.on)
        return finish_swept(collective);
    go_on(collective);
}

bool Stepping::ready(const Collective& collective, std::uint32_t w) const
{
    const WireRun& run = collective.wires[w];
    const Wire& wire = collective.plan->wires[w];
    return run.state == WireState::waiting && run.done < collective.steps &&
           collective.members[wire.from].stream != nobody &&
           std::ranges::all_of(collective.plan->needs[w], [&](std::uint32_t need) {
               return collective.wires[need].done >= run.done + collective.plan->ahead;
           });
}

// Starts the wires to try and those that they let go on in turn.
void Stepping::go_on(Collective& collective)
{
    while (!to_try_.empty()) {
        const std::uint32_t w = to_try_.back();
        to_try_.pop_back();
        if (!ready(collective, w))
            continue;
        WireRun& run = collective.wires[w];
        if (run.send == nobody)
            run.send = add_send(collective, w);
        const Wire& wire = collective.plan->wires[w];
        const SimTime latency = pace(collective, wire).latency(run.done + wire.lag);
        if (latency == SimTime(0)) {
            move(collective, w);
            continue;
        }
        run.state = WireState::latency;
        run.moves_from = run_.now + latency;
        Transfer& send = run_.transfers[run.send];
        queue_.push({run.moves_from, run.send | transfer_bit, ++send.version});
    }
}

// The latency of a step is over.
void Stepping::move(Collective& collective, std::uint32_t w)
{
    WireRun& run = collective.wires[w];
    const Wire& wire = collective.plan->wires[w];
    Transfer& send = run_.transfers[run.send];
    const std::span<const LinkUse> links = collective.plan->links(wire, run.done);
    const bool same_way = links.data() == send.links.data() && links.size() == send.links.size();
    if (send.flow != nobody && !same_way)
        rates_.end_transfer(run.send);
    send.links = links;
    send.remaining = pace(collective, wire).work(run.done + wire.lag);
    if (send.remaining == 0)
        return complete(collective, w);
    run.state = WireState::moving;
    rates_.start_transfer(run.send);
}

void Stepping::handle_send(std::uint32_t id)
{
    const Transfer& send = run_.transfers[id];
    Collective& collective = collectives_[send.steps];
    if (collective.wires[send.wire].state == WireState::latency)
        move(collective, send.wire);
    else
        complete(collective, send.wire);
    go_on(collective);
}

// A step of the wire is over.
void Stepping::complete(Collective& collective, std::uint32_t w)
{
    WireRun& run = collective.wires[w];
    const Wire& wire = collective.plan->wires[w];
    const bool direct = collective.plan->shape == StepShape::direct;
    const std::uint32_t receiver = collective.plan->receiver(wire, run.done);
    run.state = WireState::waiting;
    run_.transfers[run.send].remaining = 0;
    loosen(run.send);
    const bool last = ++run.done == collective.steps;
    if (last)
        count_off(collective, wire.from);
    if (last || direct)
        count_off(collective, receiver);
    to_try_.push_back(w);
    const std::span<const std::uint32_t> feeds = collective.plan->feeds[w];
    to_try_.insert(to_try_.end(), feeds.begin(), feeds.end());
    if (--collective.sweep.sends_until_next == 0)
        to_sweep_.push_back(run_.transfers[run.send].steps);
}

void Stepping::count_off(Collective& collective, std::uint32_t member)
{
    if (--collective.members[member].pending > 0)
        return;
    done_.streams.push_back(collective.members[member].stream);
    if (--collective.members_left > 0)
        return;
    const Transfer& transfer = run_.transfers[collective.transfer];
    if (transfer.disturbed)
        disturbed_ += run_.binding.groups[transfer.channel].copies;
    done_.transfers.push_back(collective.transfer);
    free_.push_back(transfer.steps);
    collective.transfer = nobody;
    for (const WireRun& run : collective.wires)
        if (run.send != nobody) {
            run_.transfers[run.send].parent = nobody;
            loosen(run.send);
        }
}

void Stepping::loosen(std::uint32_t id)
{
    if (std::exchange(run_.transfers[id].loose, true))
        return;
    loose_.push_back(id);
}

void Stepping::let_go()
{
    for (const std::uint32_t id : loose_) {
        Transfer& send = run_.transfers[id];
        send.loose = false;
        if (send.remaining > 0)
            continue; // moving
        rates_.end_transfer(id);
        if (send.parent == nobody)
            table_.free(id);
    }
    loose_.clear();
}

void Stepping::list_members()
{
    for (const Collective& collective : collectives_) {
        if (collective.transfer == nobody)
            continue;
        std::uint32_t& first = run_.transfers[collective.transfer].first_member;
        first = nobody;
        for (const Member& member : collective.members)
            if (member.stream != nobody && member.pending > 0) {
                run_.streams[member.stream].next_member = first;
                first = member.stream;
            }
    }
}

} // namespace trainyard::engine
