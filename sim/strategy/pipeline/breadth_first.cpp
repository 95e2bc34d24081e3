// Breadth-first pipeline (Lamy-Poirier 2023, section 4.2; PyTorch's ScheduleLoopedBFS): all
// micro-batches pass a chunk before the first enters the next; backward mirrors the chunks.
//
// In flight at every stage: m v chunk passes, as GPipe. Bubble: (p - 1) / (v m) of the ideal time
// where m >= p; with fewer micro-batches a chunk is done before its first output has come round.

#include "sim/strategy/schedule.h"

namespace trainyard {

namespace {

class BreadthFirst final : public PipelineSchedule {
public:
    std::string_view name() const override { return "breadth-first"; }
    std::string_view help() const override
    {
        return "every micro-batch through one chunk, then through the next; keeps every one";
    }

    std::string refusal(const PipelineShape& shape) const override
    {
        if (shape.stages >= 2)
            return {};
        return "breadth-first needs at least 2 pipeline stages; use pp >= 2 or the schedule 1f1b";
    }

    std::vector<Pass> passes(const PipelineShape& shape, int) const override
    {
        std::vector<Pass> order;
        for (int chunk = 0; chunk < shape.chunks; ++chunk)
            for (int m = 0; m < shape.micro_batches; ++m)
                order.push_back({PassKind::forward, m, chunk});
        for (int chunk = shape.chunks - 1; chunk >= 0; --chunk)
            for (int m = 0; m < shape.micro_batches; ++m)
                order.push_back({PassKind::backward, m, chunk});
        return order;
    }
};

} // namespace

const PipelineSchedule& breadth_first_schedule()
{
    static const BreadthFirst schedule;
    return schedule;
}

} // namespace trainyard
