// DualPipeV (DeepSeek 2025): DualPipe cut in half. Two chunks per device, there and back, so that
// the far half of DualPipe's devices, and the second copy of the parameters, are not needed.
//
// With two chunks on each of p devices, F&B, B and W of a chunk: bubble (p - 1)(F&B + B - 3W). In
// flight: 2p + 1 chunks at most.

#include "sim/strategy/pipeline/dual_order.h"

#include <fmt/core.h>

namespace trainyard {

namespace {

class DualPipeV final : public PipelineSchedule {
public:
    std::string_view name() const override { return "dualpipev"; }
    std::string_view help() const override
    {
        return "two chunks per device, there and back, forward passes beside backward passes";
    }

    std::string refusal(const PipelineShape& shape) const override
    {
        if (shape.chunks != 2)
            return fmt::format("dualpipev runs two chunks per device, there and back, not {}; use "
                               "vpp = 2, or the schedule dualpipe with vpp = 1",
                               shape.chunks);
        const int least = 2 * shape.stages;
        if (shape.micro_batches < least)
            return fmt::format("dualpipev needs at least 2 pp = {} micro-batches, not {}; use a "
                               "batch with {} micro-batches per replica, or the schedule zb-v",
                               least, shape.micro_batches, least);
        return {};
    }

    StagePlacement placement(const PipelineShape& shape) const override
    {
        return folded_placement(shape.stages);
    }

    bool takes_turns(const PipelineShape&) const override { return true; }

    std::vector<Pass> passes(const PipelineShape& shape, int stage) const override
    {
        return dual_passes(
            {.half = shape.stages, .position = stage, .passes = shape.micro_batches});
    }
};

} // namespace

const PipelineSchedule& dual_pipe_v_schedule()
{
    static const DualPipeV schedule;
    return schedule;
}

} // namespace trainyard
