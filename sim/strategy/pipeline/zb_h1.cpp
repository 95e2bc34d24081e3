// ZB-H1 (Qi 2023, section 2.3): 1F1B with the gradients of weights put off by as many micro-batches
// as there are stages before, so that every stage keeps as much as the first of 1F1B.
//
// With F, B (gradients of inputs) and W (of weights): bubble (p - 1)(F + B - W) for m >= p; in
// flight min(m, p) micro-batches at every stage, until W ran.

#include "sim/strategy/pipeline/zero_bubble.h"

namespace trainyard {

namespace {

class ZbH1 final : public PipelineSchedule {
public:
    std::string_view name() const override { return "zb-h1"; }
    std::string_view help() const override
    {
        return "1f1b with gradients of weights put off into the bubble; memory as 1f1b's first "
               "stage";
    }

    std::string refusal(const PipelineShape& shape) const override
    {
        return one_stage_refusal(name(), shape);
    }

    std::vector<Pass> passes(const PipelineShape& shape, int stage) const override
    {
        return split_passes(shape.micro_batches,
                            {.ahead = shape.stages - stage - 1, .behind = stage});
    }
};

} // namespace

const PipelineSchedule& zb_h1_schedule()
{
    static const ZbH1 schedule;
    return schedule;
}

} // namespace trainyard
