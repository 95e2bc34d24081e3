#include "sim/strategy/pipeline/zero_bubble.h"

#include <fmt/core.h>

#include <algorithm>

namespace trainyard {

std::vector<Pass> split_passes(int micro_batches, const SplitOrder& order)
{
    std::vector<Pass> out;
    const int ahead = std::min(order.ahead, micro_batches);
    for (int m = 0; m < ahead; ++m)
        out.push_back({PassKind::forward, m, 0});
    for (int m = 0; m < micro_batches; ++m) {
        if (m + ahead < micro_batches)
            out.push_back({PassKind::forward, m + ahead, 0});
        out.push_back({PassKind::backward_input, m, 0});
        if (m >= order.behind)
            out.push_back({PassKind::backward_weight, m - order.behind, 0});
    }
    for (int m = std::max(0, micro_batches - order.behind); m < micro_batches; ++m)
        out.push_back({PassKind::backward_weight, m, 0});
    return out;
}

std::string one_stage_refusal(std::string_view schedule, const PipelineShape& shape)
{
    if (shape.chunks != 1)
        return fmt::format("{} runs one stage per device, not {} virtual ones; use vpp = 1, or "
                           "the schedule zb-v with vpp = 2",
                           schedule, shape.chunks);
    if (shape.stages < 2)
        return fmt::format("{} needs at least 2 pipeline stages; use pp >= 2 or the schedule 1f1b",
                           schedule);
    return {};
}

} // namespace trainyard
