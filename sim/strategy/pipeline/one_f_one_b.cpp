// One forward, one backward (PipeDream-Flush; Narayanan 2021, section 2.2.1).
//
// Stage i runs min(p - i - 1, m) forward passes ahead, then alternates, then drains. In flight:
// min(m, p - i) micro-batches. Bubble: (p - 1) / m of the ideal time, as GPipe.
//
// Without a pipeline (p = 1) forward passes can run beside backward passes: one runs ahead. With
// one, stage i + 1 would have to finish both before stage i may begin.

#include "sim/strategy/schedule.h"

#include <fmt/core.h>

#include <algorithm>

namespace trainyard {

namespace {

class OneForwardOneBackward final : public PipelineSchedule {
public:
    std::string_view name() const override { return "1f1b"; }
    std::string_view help() const override
    {
        return "one forward, one backward in turn; keeps at most as many micro-batches as stages";
    }

    std::string refusal(const PipelineShape& shape) const override
    {
        if (shape.chunks == 1)
            return {};
        return fmt::format("1f1b runs one stage per device, not {} virtual ones; use vpp = 1 or "
                           "the schedule interleaved-1f1b",
                           shape.chunks);
    }

    bool takes_turns(const PipelineShape& shape) const override { return shape.stages == 1; }

    std::vector<Pass> passes(const PipelineShape& shape, int stage) const override
    {
        const int turns = shape.in_turns ? 1 : 0;
        const int ahead = std::min(shape.stages - stage - 1 + turns, shape.micro_batches);
        std::vector<Pass> order;
        for (int m = 0; m < ahead; ++m)
            order.push_back({PassKind::forward, m, 0});
        for (int m = 0; m < shape.micro_batches; ++m) {
            if (m + ahead < shape.micro_batches)
                order.push_back({PassKind::forward, m + ahead, 0, shape.in_turns});
            order.push_back({PassKind::backward, m, 0});
        }
        return order;
    }
};

} // namespace

const PipelineSchedule& one_f_one_b_schedule()
{
    static const OneForwardOneBackward schedule;
    return schedule;
}

} // namespace trainyard
