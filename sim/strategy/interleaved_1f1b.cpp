// Interleaved 1F1B (Narayanan 2021, section 2.2.2; the order of Megatron-LM).
//
// A device holds v chunks; its k-th forward pass takes micro-batches in groups of p through chunk
// 0, then the same group through chunk 1, and so on; backward passes mirror the chunks. Stage i
// runs 2 (p - i - 1) + (v - 1) p passes ahead, so one chunk pass more is in flight: p v + p - 2 i -
// 1, at most m v. Bubble: (p - 1) / (v m) of the ideal time.

#include "sim/strategy/schedule.h"

#include <fmt/format.h>

#include <algorithm>

namespace trainyard {

namespace {

Pass pass_number(const PipelineShape& shape, PassKind kind, int k)
{
    const int group = shape.stages * shape.chunks;
    const int chunk = k % group / shape.stages;
    return {kind, k / group * shape.stages + k % shape.stages,
            kind == PassKind::forward ? chunk : shape.chunks - 1 - chunk};
}

class InterleavedOneForwardOneBackward final : public PipelineSchedule {
public:
    std::string_view name() const override { return "interleaved-1f1b"; }
    std::string_view help() const override
    {
        return "1f1b over several chunks of layers per device; a bubble smaller by their number";
    }

    std::string refusal(const PipelineShape& shape) const override
    {
        if (shape.chunks < 2)
            return "interleaved-1f1b needs at least 2 virtual stages per device; use vpp >= 2 or "
                   "the schedule 1f1b";
        if (shape.stages < 2)
            return "interleaved-1f1b needs at least 2 pipeline stages; use pp >= 2 or vpp = 1";
        if (shape.micro_batches % shape.stages != 0)
            return fmt::format("interleaved-1f1b takes micro-batches in groups of {}, one per "
                               "stage, and {} is no multiple of it; use a batch with a multiple "
                               "of {} micro-batches per replica, or vpp = 1",
                               shape.stages, shape.micro_batches, shape.stages);
        return {};
    }

    std::vector<Pass> passes(const PipelineShape& shape, int stage) const override
    {
        const int total = shape.micro_batches * shape.chunks;
        const int ahead =
            std::min(2 * (shape.stages - stage - 1) + (shape.chunks - 1) * shape.stages, total);
        std::vector<Pass> order;
        for (int k = 0; k < ahead; ++k)
            order.push_back(pass_number(shape, PassKind::forward, k));
        for (int k = 0; k < total; ++k) {
            if (k + ahead < total)
                order.push_back(pass_number(shape, PassKind::forward, k + ahead));
            order.push_back(pass_number(shape, PassKind::backward, k));
        }
        return order;
    }
};

} // namespace

const PipelineSchedule& interleaved_one_f_one_b_schedule()
{
    static const InterleavedOneForwardOneBackward schedule;
    return schedule;
}

} // namespace trainyard
