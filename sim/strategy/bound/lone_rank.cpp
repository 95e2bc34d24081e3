#include "sim/strategy/bound/lone_rank.h"

#include "sim/strategy/bind/costs.h"
#include "sim/topology/perturbed_model.h"

#include <algorithm>

namespace trainyard {

namespace {

// Are all NVLink domains of one size, and do the group's members, side by side in blocks as all
// their siblings are, fill whole domains or whole parts of one? Then no sibling lies better.
bool lies_as_well_as_any(const Topology& topology, const std::vector<RankId>& members)
{
    const int devices = topology.device_count();
    const int domains = topology.domain_count();
    if (devices % domains != 0 || members.size() < 2)
        return false;
    const int domain = devices / domains;
    const auto domain_of = [&](int device) {
        return topology.device(make_id<DeviceId>(to_size(device))).domain;
    };
    if (domain_of(domain - 1) != domain_of(0) || (domains > 1 && domain_of(domain) == domain_of(0)))
        return false;
    const auto stride = static_cast<int>(members[1].value - members[0].value);
    const int span = stride * static_cast<int>(members.size());
    return span % domain == 0 || domain % span == 0;
}

// The distinct shapes of the groups in each slot: of rank 0's alone where that stands for all.
Neighbourhood shapes_of(const Program& program, const Job& job, const Topology& topology)
{
    const RankLayout layout(job);
    Neighbourhood out;
    for (std::size_t slot = 0; slot < program.groups.size(); ++slot) {
        const std::vector<RankId> members = layout.members(program.groups[slot].kind, RankId{0});
        if (members.size() < 2)
            continue;
        if (!lies_as_well_as_any(topology, members))
            return neighbourhood(program, job, in_good_state(topology), FabricLimit::links);
        GroupShape shape = group_shape(topology, devices_of(members));
        shape.network.oversubscription = 1.0; // as if its siblings were silent
        out.groups.push_back({slot, {}, static_cast<std::uint32_t>(out.shapes.size())});
        out.shapes.push_back(shape);
    }
    return out;
}

Seconds alone(const TransferCost& cost)
{
    const SimTime moving =
        cost.work == Work{} ? SimTime(0) : time_to_finish(cost.work, cost.ceiling);
    return to_seconds(cost.latency + moving);
}

} // namespace

LoneCosts::LoneCosts(const Plan& plan, const Job& job, const Topology& topology,
                     const CostModel& cost)
    : program_(plan.program), variants_(plan.program.groups.size())
{
    const Neighbourhood shapes = shapes_of(plan.program, job, topology);
    for (const RankGroup& group : shapes.groups) {
        std::vector<std::uint32_t>& known = variants_[group.slot];
        if (std::ranges::find(known, group.shape) == known.end())
            known.push_back(group.shape);
    }
    costs_ = bind_costs(plan, shapes, cost, job);
}

Seconds LoneCosts::of(const Op& op) const
{
    switch (op.kind) {
    case OpKind::exchange: // its partner may have sent long ago
        return Seconds(0);
    case OpKind::collective: {
        Seconds least(std::numeric_limits<double>::infinity());
        for (const std::uint32_t variant : variants_[op.group.value])
            least = std::min(least, alone(costs_.transfers[variant][op.cost.value]));
        return variants_[op.group.value].empty() ? Seconds(0) : least;
    }
    default:
        return to_seconds(costs_.compute[op.cost.value]);
    }
}

Seconds LoneCosts::issue(const Op& op) const
{
    const Phase phase = program_.labels[op.label.value].phase;
    const bool by_host = program_.streams[op.stream.value].kind != StreamKind::worker;
    return by_host && op.kind != OpKind::host
               ? to_seconds(costs_.host_per_kernel[static_cast<std::size_t>(phase)]) * op.kernels
               : Seconds(0);
}

void LoneRank::run(const Block& block, std::span<const EventId> events)
{
    for (const Op& op : block.ops) {
        Seconds& stream = streams_[op.stream.value];
        Seconds start = stream;
        if (program_.streams[op.stream.value].kind != StreamKind::worker)
            start = std::max(start, host());
        for (std::size_t i = 0; i < op.wait_count; ++i) {
            const LocalEvent local = block.waits[op.wait_first + i];
            start = std::max(start, events_[events[local.value].value]);
        }
        stream = start + costs_.of(op);
        if (op.record.valid())
            events_[events[op.record.value].value] = stream;
        if (op.blocks_host)
            streams_[host_stream.value] = std::max(host(), stream);
    }
}

} // namespace trainyard
