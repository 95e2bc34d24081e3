#include "sim/engine/state.h"

namespace trainyard::engine {

RunState::RunState(const Program& the_program, const Binding& the_binding, int step_count)
    : program(the_program),
      binding(the_binding),
      steps(static_cast<std::uint32_t>(step_count)),
      compiled(compile(the_program, the_binding)),
      streams(the_binding.lanes.size() * compiled.streams),
      lanes(the_binding.lanes.size()),
      slots_per_lane(the_program.groups.size() + the_program.scale_slots)
{
    slots.reserve(lanes.size() * slots_per_lane);
    for (std::uint32_t l = 0; l < lanes.size(); ++l) {
        const Lane& lane = binding.lanes[l];
        lanes[l].kind = &compiled.kinds[compiled.lane_kinds[l]];
        lanes[l].multiplicity = lane.multiplicity;
        for (std::size_t s = 0; s < lanes[l].kind->streams.size(); ++s)
            streams[stream_index(l, s)].head = lanes[l].kind->streams[s].op_first;
        for (const GroupId group : lane.groups)
            slots.push_back(group.value);
        slots.insert(slots.end(), lane.scales.begin(), lane.scales.end());
    }
}

SimTime RunState::duration_of(std::uint32_t l, const FlatOp& op, std::uint32_t step) const
{
    const Lane& lane = binding.lanes[l];
    SimTime duration = scaled(*this, l, op.scale, op.duration);
    if (op.kind == OpKind::compute && lane.jitter.valid())
        duration = jittered(
            duration, jitter_factor(binding.jitters[lane.jitter.value], lane.rank, step, op.order));
    if (op.first_input && step < lane.late_input.size())
        duration += lane.late_input[step];
    return duration;
}

} // namespace trainyard::engine
