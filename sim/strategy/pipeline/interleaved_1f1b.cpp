// Interleaved 1F1B, depth first (Narayanan 2021, section 2.2.2; the order of Megatron-Core).
//
// A device holds v chunks; its k-th forward pass takes micro-batches in groups of n (p by default)
// through chunk 0, then the same group through chunk 1, and so on; backward passes mirror the
// chunks. Stage i runs 2 (p - i - 1) + (v - 1) n passes ahead, so one chunk pass more is in flight:
// with n = p that is p v + p - 2 i - 1, at most m v. Bubble: (p - 1) / (v m) of the ideal time.
//
// In turns (Megatron-Core's overlap_moe_expert_parallel_comm) one pass more runs ahead, so that the
// forward pass beside a backward pass is another's on the last stage, too.
//
// The last group holds what is left of m: none, or at least p, else its passes wait for each other.

#include "sim/strategy/schedule.h"

#include <fmt/core.h>

#include <algorithm>

namespace trainyard {

namespace {

int group_size(const PipelineShape& shape)
{
    return shape.group > 0 ? shape.group : shape.stages;
}

Pass pass_number(const PipelineShape& shape, PassKind kind, int k)
{
    const int whole = group_size(shape);
    const int group = std::min(k / (whole * shape.chunks), (shape.micro_batches - 1) / whole);
    const int first = group * whole;
    const int size = std::min(whole, shape.micro_batches - first);
    const int inside = k - first * shape.chunks;
    const int chunk = inside / size;
    return {kind, first + inside % size,
            kind == PassKind::forward ? chunk : shape.chunks - 1 - chunk};
}

bool group_works(const PipelineShape& shape, int group)
{
    const int left = shape.micro_batches % group;
    return group >= shape.stages && group <= shape.micro_batches &&
           (left == 0 || left >= shape.stages);
}

std::string group_refusal(const PipelineShape& shape)
{
    const int m = shape.micro_batches;
    const int p = shape.stages;
    int works = p;
    while (works < m && !group_works(shape, works))
        ++works;
    const std::string other =
        m >= p ? fmt::format("pipeline.micro_batch_group = {}, ", works) : std::string();
    if (shape.group > 0)
        return fmt::format("interleaved-1f1b cannot take {} micro-batches in groups of {}: a group "
                           "has {} (one per stage) to {}, and so many or none are left for the "
                           "last; use {}or vpp = 1",
                           m, shape.group, p, m, other);
    return fmt::format("interleaved-1f1b takes micro-batches in groups of {}, one per stage, and "
                       "{} is no multiple of it; use a batch with a multiple of {} micro-batches "
                       "per replica, {}or vpp = 1",
                       p, m, p, other);
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
        if (shape.group == 0 ? shape.micro_batches % shape.stages != 0
                             : !group_works(shape, shape.group))
            return group_refusal(shape);
        return {};
    }

    bool takes_turns(const PipelineShape&) const override { return true; }

    std::vector<Pass> passes(const PipelineShape& shape, int stage) const override
    {
        const int total = shape.micro_batches * shape.chunks;
        const int ahead =
            std::min(2 * (shape.stages - stage - 1) + (shape.chunks - 1) * group_size(shape) +
                         (shape.in_turns ? 1 : 0),
                     total);
        std::vector<Pass> order;
        for (int k = 0; k < ahead; ++k)
            order.push_back(pass_number(shape, PassKind::forward, k));
        for (int k = 0; k < total; ++k) {
            if (k + ahead < total) {
                order.push_back(pass_number(shape, PassKind::forward, k + ahead));
                order.back().with_next = shape.in_turns;
            }
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
