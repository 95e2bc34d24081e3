#include "sim/engine/steps/step_plan.h"

#include <algorithm>

namespace trainyard::engine {

namespace {

constexpr std::uint32_t nobody = 0xffffffff;

// Chunks that a chain passes on: beside them its filling counts little.
constexpr std::uint32_t chunks_per_member = 8;

} // namespace

StepShape step_shape(CollectiveKind kind, TrafficPattern pattern)
{
    switch (pattern) {
    case TrafficPattern::all_to_all:
        return StepShape::direct;
    case TrafficPattern::neighbours:
        return StepShape::pass;
    case TrafficPattern::tree:
    case TrafficPattern::nvls:
        return StepShape::none;
    case TrafficPattern::ring:
        break;
    }
    switch (kind) {
    case CollectiveKind::all_reduce:
    case CollectiveKind::all_gather:
    case CollectiveKind::reduce_scatter:
        return StepShape::ring;
    case CollectiveKind::broadcast:
        return StepShape::from_first;
    case CollectiveKind::reduce:
        return StepShape::to_first;
    default:
        return StepShape::none;
    }
}

std::uint32_t step_count(StepShape shape, CollectiveKind kind, std::uint32_t members)
{
    switch (shape) {
    case StepShape::pass:
        return 1;
    case StepShape::from_first:
    case StepShape::to_first:
        return chunks_per_member * members;
    default:
        return (kind == CollectiveKind::all_reduce ? 2 : 1) * (members - 1);
    }
}

const Ways& ways_of(const Group& group, StepShape shape)
{
    switch (shape) {
    case StepShape::direct:
        return group.pairs;
    case StepShape::pass:
        return group.neighbour_hops;
    default:
        return group.ring_hops;
    }
}

StepPlan step_plan(const Group& group, StepShape shape)
{
    const auto members = static_cast<std::uint32_t>(group.members.size());
    const bool chain = shape == StepShape::from_first || shape == StepShape::to_first;
    const std::uint32_t head = shape == StepShape::to_first ? 1 : 0;
    const std::uint32_t count = chain ? members - 1 : members;
    StepPlan plan;
    plan.shape = shape;
    plan.members = members;
    plan.ahead = chain ? 1 : 0;
    plan.most_lag = chain ? count - 1 : 0;
    plan.wire_of.assign(members, nobody);
    plan.ways = &ways_of(group, shape);
    for (std::uint32_t w = 0; w < count; ++w) {
        Wire wire;
        wire.from = w + head;
        wire.to = (wire.from + 1) % members;
        if (chain) {
            wire.lag = w;
            wire.needs = w > 0 ? w - 1 : nobody;
            wire.feeds = w + 1 < count ? w + 1 : nobody;
        } else if (shape == StepShape::ring) {
            wire.needs = (w + members - 1) % members;
            wire.feeds = wire.to;
        }
        plan.wire_of[wire.from] = w;
        plan.wires.push_back(wire);
    }
    return plan;
}

} // namespace trainyard::engine
