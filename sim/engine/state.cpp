#include "sim/engine/state.h"

#include <algorithm>
#include <bit>

namespace trainyard::engine {

RunState::RunState(const Program& the_program, const Binding& the_binding, int step_count,
                   const Omissions& omissions)
    : program(the_program),
      binding(the_binding),
      steps(static_cast<std::uint32_t>(step_count)),
      compiled(compile(the_program, the_binding, omissions)),
      stream_bits(static_cast<std::uint32_t>(std::bit_width(std::max(compiled.streams, 1U) - 1))),
      streams(the_binding.lanes.size() << stream_bits),
      lanes(the_binding.lanes.size()),
      slots_per_lane(the_program.groups.size() + the_program.scale_slots)
{
    slots.reserve(lanes.size() * slots_per_lane);
    for (const LaneKind& kind : compiled.kinds)
        ways_per_lane = std::max(ways_per_lane, kind.ways);
    ways.resize(lanes.size() * ways_per_lane);
    for (std::uint32_t l = 0; l < lanes.size(); ++l) {
        const Lane& lane = binding.lanes[l];
        lanes[l].kind = &compiled.kinds[compiled.lane_kinds[l]];
        lanes[l].multiplicity = lane.multiplicity;
        lanes[l].plain = !lane.stop.ever() && !lane.jitter.valid() && lane.late.empty() &&
                         lane.late_input.empty();
        for (std::size_t s = 0; s < lanes[l].kind->streams.size(); ++s)
            streams[stream_index(l, s)].head = lanes[l].kind->streams[s].op_first;
        for (const GroupId group : lane.groups)
            slots.push_back(group.value);
        slots.insert(slots.end(), lane.scales.begin(), lane.scales.end());
        list_ways(l);
    }
}

void RunState::list_ways(std::uint32_t lane)
{
    for (const PartPlan& part : kind_of(lane).parts) {
        const Peer& peer = binding.lanes[lane].peers[part.peer.value];
        const std::size_t pipe = compiled.lane_pipe_first[lane] + part.pipe;
        ways[way_of(lane, part)] = {peer.links, compiled.lane_pipes[pipe], peer.variant};
    }
}

SimTime RunState::duration_of(std::uint32_t l, const FlatOp& op, std::uint32_t step) const
{
    SimTime duration = scaled(*this, l, op.scale, op.duration);
    if (lanes[l].plain)
        return duration;
    const Lane& lane = binding.lanes[l];
    if (op.kind == OpKind::compute && lane.jitter.valid()) {
        const Jitter& jitter = binding.jitters[lane.jitter.value];
        duration = jittered(
            duration, jitter_factor(jitter, jitter_key(jitter.seed, lane.rank), step, op.order));
    }
    if (op.first_input && step < lane.late_input.size())
        duration += lane.late_input[step];
    return duration;
}

} // namespace trainyard::engine
