// DualPipe (DeepSeek-V3, section 3.2.1): micro-batches enter from both ends of the pipeline, half
// of them each way, and every device holds the layers of two stages, i and p-1-i.
//
// With F&B a forward pass beside a backward pass, B a whole backward pass and W its gradients of
// weights: bubble (p/2 - 1)(F&B + B - 3W). In flight: p + 1 stages' activations at most. Parameters
// exist twice; the two copies of a layer add up their gradients.

#include "sim/strategy/pipeline/dual_order.h"

#include <fmt/core.h>

#include <algorithm>

namespace trainyard {

namespace {

class DualPipe final : public PipelineSchedule {
public:
    std::string_view name() const override { return "dualpipe"; }
    std::string_view help() const override
    {
        return "micro-batches from both ends over two copies of the parameters, forward passes "
               "beside backward passes";
    }

    std::string refusal(const PipelineShape& shape) const override
    {
        if (shape.chunks != 1)
            return fmt::format("dualpipe places two stages on each device by itself; use vpp = 1 "
                               "in place of {}, or the schedule dualpipev with vpp = 2",
                               shape.chunks);
        if (shape.stages % 2 != 0)
            return fmt::format("dualpipe pairs the stages from both ends, and {} is odd; use pp = "
                               "{}, or the schedule dualpipev",
                               shape.stages, shape.stages + 1);
        const int m = shape.micro_batches;
        const int least = 2 * shape.stages;
        if (m % 2 != 0 || m < least)
            return fmt::format("dualpipe takes an even number of micro-batches, at least 2 pp = "
                               "{}, not {}; use a batch with {} micro-batches per replica",
                               least, m, std::max(least, m + m % 2));
        return {};
    }

    StagePlacement placement(const PipelineShape& shape) const override
    {
        return opposed_placement(shape.stages);
    }

    bool takes_turns(const PipelineShape&) const override { return true; }

    std::vector<Pass> passes(const PipelineShape& shape, int stage) const override
    {
        const int half = shape.micro_batches / 2;
        const int position = std::min(stage, shape.stages - 1 - stage);
        const bool mirrored = stage != position; // the far half: its outside is the other end
        std::vector<Pass> order =
            dual_passes({.half = shape.stages / 2, .position = position, .passes = half});
        for (Pass& pass : order) {
            pass.chunk = mirrored ? 1 - pass.chunk : pass.chunk;
            pass.micro_batch += pass.chunk * half;
        }
        return order;
    }
};

} // namespace

const PipelineSchedule& dual_pipe_schedule()
{
    static const DualPipe schedule;
    return schedule;
}

} // namespace trainyard
