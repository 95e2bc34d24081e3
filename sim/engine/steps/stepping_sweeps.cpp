// Rings that are alone on their links: swept (ring_sweep.h) instead of sent.

#include "sim/engine/steps/stepping.h"

#include <algorithm>
#include <functional>
#include <utility>

namespace trainyard::engine {

// Whether all that others see of the ring are the ends of its members.
bool Stepping::sweepable(const Collective& collective) const
{
    const TransferCost& cost = *run_.transfers[collective.transfer].cost;
    return sweeps_ && collective.plan->shape == StepShape::ring && cost.work.value > 0 &&
           cost.traffic_share == 0;
}

// Whether nobody else is on its links, and all of these carry something.
bool Stepping::alone(const Collective& collective) const
{
    const LinkSharing& sharing = *rates_.sharing();
    const ByteRate ceiling = run_.transfers[collective.transfer].cost->ceiling;
    for (std::size_t w = 0; w < collective.wires.size(); ++w) {
        const std::span<const LinkUse> links = collective.plan->links(collective.plan->wires[w], 0);
        const std::uint32_t send = collective.wires[w].send;
        const std::uint32_t flow = send == nobody ? nobody : run_.transfers[send].flow;
        if (!sharing.alone(flow, links) || sharing.rate_alone(ceiling, links).value() == 0)
            return false;
    }
    return true;
}

bool Stepping::keep_links(const Collective& collective)
{
    const StepPlan& plan = *collective.plan;
    const std::uint32_t number = run_.transfers[collective.transfer].steps;
    LinkSharing& sharing = *rates_.sharing();
    for (std::size_t w = 0; w < plan.wires.size(); ++w) {
        if (sharing.keep(number, plan.links(plan.wires[w], 0)))
            continue;
        while (w-- > 0)
            sharing.give_up(number, plan.links(plan.wires[w], 0));
        return false;
    }
    return true;
}

// Requires its links to be kept.
void Stepping::begin_sweep(Collective& collective, std::span<const SweepWire> wires)
{
    const ByteRate ceiling = run_.transfers[collective.transfer].cost->ceiling;
    std::vector<ByteRate> rates;
    for (const Wire& wire : collective.plan->wires)
        rates.push_back(rates_.sharing()->rate_alone(ceiling, collective.plan->links(wire, 0)));
    collective.sweep.on = true;
    collective.sweep.ends.clear();
    collective.sweep.ring.begin(collective.paces.front(), collective.steps, wires, rates);
}

// None of its members has come.
void Stepping::sweep_new(Collective& collective)
{
    if (!sweepable(collective) || !alone(collective) || !keep_links(collective))
        return;
    collective.paces.assign(collective.plan->members, pace_of(collective, full_share));
    begin_sweep(collective,
                std::vector<SweepWire>(collective.wires.size(), {.free = longest_sim_time}));
}

void Stepping::come(Collective& collective, std::uint32_t stream)
{
    const std::uint32_t lane = run_.lane_of(stream);
    const std::uint32_t member = place_of_[lane];
    const std::uint32_t scale = run_.scale_of(lane, run_.head(stream).scale);
    if (collective.sweep.on && scale != full_share)
        open_sweep(collective);
    collective.members[member].stream = stream;
    collective.paces[member] = pace_of(collective, scale);
    --collective.absent;
    count_off(collective, member);
    if (collective.sweep.on) {
        collective.sweep.ring.come(member, run_.now);
        if (collective.absent == 0)
            plan_sweep(collective);
        return;
    }
    const std::span<const std::uint32_t> wires = collective.plan->leaving[member];
    to_try_.insert(to_try_.end(), wires.begin(), wires.end());
}

// All have come: when each member will be done.
void Stepping::plan_sweep(Collective& collective)
{
    const std::span<const SimTime> ends = collective.sweep.ring.ends();
    auto& order = collective.sweep.ends;
    for (std::uint32_t member = 0; member < ends.size(); ++member)
        if (collective.members[member].stream != nobody && collective.members[member].pending > 0)
            order.emplace_back(
                std::max(ends[member], ends[(member + ends.size() - 1) % ends.size()]), member);
    std::ranges::sort(order, std::greater<>());
    const Transfer& transfer = run_.transfers[collective.transfer];
    queue_.push({std::max(run_.now, order.back().first), collective.transfer | transfer_bit,
                 transfer.version});
}

// Members that are done by now.
void Stepping::finish_swept(Collective& collective)
{
    auto& ends = collective.sweep.ends;
    if (ends.empty() || ends.back().first > run_.now)
        return;
    const std::uint32_t id = collective.transfer;
    while (!ends.empty() && ends.back().first <= run_.now) {
        const std::uint32_t member = ends.back().second;
        ends.pop_back();
        if (ends.empty())
            leave_sweep(collective, std::vector<SweepWire>(collective.wires.size(),
                                                           {.done = collective.steps}));
        collective.members[member].pending = 1;
        count_off(collective, member);
    }
    if (!ends.empty())
        queue_.push({ends.back().first, id | transfer_bit, run_.transfers[id].version});
}

// Gives its links up; the wires stand like that.
void Stepping::leave_sweep(Collective& collective, const std::vector<SweepWire>& wires)
{
    const StepPlan& plan = *collective.plan;
    const RingSweep& ring = collective.sweep.ring;
    Transfer& transfer = run_.transfers[collective.transfer];
    for (std::size_t w = 0; w < wires.size(); ++w) {
        const std::span<const LinkUse> links = plan.links(plan.wires[w], 0);
        const u128 moved = ring.rest(ring.begun()[w]) - ring.rest(wires[w]);
        rates_.sharing()->give_up(transfer.steps, links);
        rates_.count_kept(links, ring.rate(w), moved);
        if (moved > 0 && ring.rate(w) < transfer.cost->ceiling)
            transfer.disturbed = true;
    }
    collective.sweep.on = false;
}

// Somebody may change its rates, or has to see its sends.
void Stepping::open_sweep(Collective& collective)
{
    const std::vector<SweepWire> wires = collective.sweep.ring.at(run_.now);
    leave_sweep(collective, wires);
    ++run_.transfers[collective.transfer].version; // the ends planned are void
    collective.sweep.sends_until_next = static_cast<std::uint32_t>(wires.size());
    for (Member& member : collective.members)
        if (member.pending > 0)
            member.pending = member.stream == nobody ? 1 : 0;
    const auto open = [&](std::uint32_t member) {
        if (wires[member].done < collective.steps)
            for (const std::uint32_t end : {member, collective.plan->wires[member].to})
                ++collective.members[end].pending;
    };
    for (std::uint32_t w = 0; w < wires.size(); ++w) {
        open(w);
        resume(collective, w, wires[w]);
    }
}

void Stepping::resume(Collective& collective, std::uint32_t w, const SweepWire& at)
{
    WireRun& run = collective.wires[w];
    run.done = at.done;
    run.state = WireState::waiting;
    if (!at.sends)
        return;
    if (run.send == nobody)
        run.send = add_send(collective, w);
    Transfer& send = run_.transfers[run.send];
    send.links = collective.plan->links(collective.plan->wires[w], at.done);
    if (at.moves_from > run_.now) {
        run.state = WireState::latency;
        run.moves_from = at.moves_from;
        queue_.push({at.moves_from, run.send | transfer_bit, ++send.version});
        return;
    }
    run.state = WireState::moving;
    send.remaining = at.left;
    rates_.start_transfer(run.send);
}

void Stepping::open_sweeps()
{
    for (Collective& collective : collectives_)
        if (collective.transfer != nobody && collective.sweep.on)
            open_sweep(collective);
}

// A ring that goes send by send is swept again if nobody else is on its links.
void Stepping::sweep_again(Collective& collective)
{
    collective.sweep.sends_until_next = static_cast<std::uint32_t>(collective.wires.size());
    const bool one_pace =
        std::ranges::adjacent_find(collective.paces, std::ranges::not_equal_to{}) ==
        collective.paces.end();
    if (collective.absent > 0 || !one_pace || !sweepable(collective) || !alone(collective))
        return;
    std::vector<SweepWire> wires;
    for (std::uint32_t w = 0; w < collective.wires.size(); ++w)
        wires.push_back(stop(collective, w));
    if (keep_links(collective)) {
        begin_sweep(collective, wires);
        plan_sweep(collective);
        return;
    }
    for (std::uint32_t w = 0; w < collective.wires.size(); ++w) // hops meet on a link
        resume(collective, w, wires[w]);
}

// Takes the send of a wire from its links and tells what it was doing.
SweepWire Stepping::stop(Collective& collective, std::uint32_t w)
{
    const WireRun& run = collective.wires[w];
    SweepWire wire{.done = run.done, .sends = run.state != WireState::waiting};
    if (run.send == nobody)
        return wire;
    Transfer& send = run_.transfers[run.send];
    rates_.end_transfer(run.send);
    ++send.version;
    const bool moving = run.state == WireState::moving;
    wire.moves_from = moving ? run_.now : run.moves_from;
    wire.left = moving ? std::exchange(send.remaining, 0) : collective.paces.front().work(run.done);
    return wire;
}

void Stepping::prepare_rates()
{
    let_go();
    if (rates_.sharing() == nullptr)
        return;
    for (const std::uint32_t number : rates_.sharing()->take_disturbed())
        if (collectives_[number].sweep.on)
            open_sweep(collectives_[number]);
    for (const std::uint32_t number : std::exchange(to_sweep_, {}))
        if (collectives_[number].transfer != nobody && !collectives_[number].sweep.on)
            sweep_again(collectives_[number]);
}

} // namespace trainyard::engine
