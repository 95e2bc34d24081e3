// ZB-H2 (Qi 2023, section 2.4): twice as many forward passes ahead as ZB-H1, so that with the
// gradients of weights put off twice as far no stage waits once it has begun.
//
// A stage's own idle time, from its first pass to its last: (p - 1)(F + B - 2W), none when F = B =
// W, for m >= 2p - 1. In flight: min(m, 2p - 1) micro-batches at every stage, until W ran. Stages
// begin and end one after the other, so the optimizer must not wait for all of them.

#include "sim/strategy/pipeline/zero_bubble.h"

namespace trainyard {

namespace {

class ZbH2 final : public PipelineSchedule {
public:
    std::string_view name() const override { return "zb-h2"; }
    std::string_view help() const override
    {
        return "zb-h1 with about twice the memory and next to no bubble";
    }

    std::string refusal(const PipelineShape& shape) const override
    {
        return one_stage_refusal(name(), shape);
    }

    bool ends_in_turn() const override { return true; }

    std::vector<Pass> passes(const PipelineShape& shape, int stage) const override
    {
        return split_passes(shape.micro_batches,
                            {.ahead = 2 * (shape.stages - stage - 1), .behind = 2 * stage});
    }
};

} // namespace

const PipelineSchedule& zb_h2_schedule()
{
    static const ZbH2 schedule;
    return schedule;
}

} // namespace trainyard
