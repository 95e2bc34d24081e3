// GPipe (Huang 2019): every forward pass, then every backward pass.
//
// In flight at every stage: m micro-batches. Bubble: (p - 1) / m of the ideal time.

#include "sim/strategy/schedule.h"

#include <fmt/core.h>

namespace trainyard {

namespace {

class GPipe final : public PipelineSchedule {
public:
    std::string_view name() const override { return "gpipe"; }
    std::string_view help() const override
    {
        return "all forward passes, then all backward passes; keeps every micro-batch";
    }

    std::string refusal(const PipelineShape& shape) const override
    {
        if (shape.chunks == 1)
            return {};
        return fmt::format("gpipe runs one stage per device, not {} virtual ones; use vpp = 1 or "
                           "the schedule interleaved-1f1b",
                           shape.chunks);
    }

    std::vector<Pass> passes(const PipelineShape& shape, int) const override
    {
        std::vector<Pass> order;
        for (const PassKind kind : {PassKind::forward, PassKind::backward})
            for (int m = 0; m < shape.micro_batches; ++m)
                order.push_back({kind, m, 0});
        return order;
    }
};

} // namespace

const PipelineSchedule& gpipe_schedule()
{
    static const GPipe schedule;
    return schedule;
}

} // namespace trainyard
