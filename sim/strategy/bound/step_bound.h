#pragma once

// What a step takes and holds at least, in closed form: for the many strategies that a search
// leaves out without running them. Never above what an engine and the allocator find of the same
// job on a sound cluster.
//
//   T >= turn + fill + passes + drain                    of each stage
//   T >= turn + fill + passes less the last one + gradients' reduction, and likewise for gathers
//   T >= transfers of data parallelism + update
//   T >= issue by the host + update
//
// fill: the forward passes of the stages before, on a micro-batch's way to the first pass; drain:
// their backward passes, on its way back. A pass is the longest chain of its kernels and of the
// communication that they wait for; of two that take turns, that of both (turns.h).

#include "sim/strategy/bound/layer_passes.h"
#include "sim/strategy/bound/pass_order.h"
#include "sim/strategy/bound/stage_rest.h"
#include "sim/strategy/memory.h"

namespace trainyard {

// Strategies that share all but micro-batch, batch and recompute: where the layers lie, what is
// held, and what happens besides passes.
class StageFamily {
public:
    // `job`: any of the family without recompute. Topology and costs are kept by reference.
    StageFamily(Job job, const Topology& topology, const CostModel& cost,
                const DeviceMemory& device);

    // The passes of its virtual stages.
    struct StagePasses {
        std::vector<PassTime> forward; // by virtual stage, as all below
        std::vector<PassTime> backward;
        std::vector<PassTime> backward_input;
        std::vector<PassTime> backward_weight;
        std::vector<std::int64_t> kept;
        struct Layer {
            const LayerTable* table;
            std::size_t number; // in it

            bool operator==(const Layer&) const = default;
        };
        std::vector<std::vector<Layer>> layers;
    };
    // `stages`: the layers of one of the family (cut_into_stages). `plain` and `again`: its layers
    // without recompute and with it; both outlive the result.
    static StagePasses passes(const std::vector<std::vector<StageLayer>>& stages,
                              const LayerTable& plain, const LayerTable& again);

    // By virtual stage: how long a micro-batch's message to the next one takes.
    std::vector<Seconds> messages(std::int64_t micro_batch) const;

    // `messages`: of the micro-batches' size. The first call costs more than all others: families
    // whose layouts do not fit are better spared it.
    Seconds step_time(const StagePasses& passes, const std::vector<Seconds>& messages,
                      const PassOrder& order, std::int64_t micro_batches);
    // Of the fullest device.
    Bytes memory(const StagePasses& passes, const PassOrder& order) const;

private:
    // A message of one sequence to the next virtual stage.
    struct Boundary {
        GroupShape pair;
        Bytes bytes; // 0: it is on the same device
    };

    // What a device's passes take where they take turns.
    Seconds busy_in_turns(const StagePasses& passes, const DeviceOrder& order, int device,
                          int periods) const;

    void add_boundaries();

    Job job_;
    JobWork work_;
    const Topology* topology_;
    const CostModel* cost_;
    StagePlacement placement_;
    std::vector<StageRest> rests_;     // by device; found when a time is asked for
    std::vector<Bytes> held_;          // likewise: states and context
    std::vector<Boundary> boundaries_; // of the first pipe
    Backend backend_ = Backend::nccl;  // of messages
    int chunks_ = 1;                   // of a device
    bool meets_ = true;                // all stages before the optimizer
};

// Of one job by itself. Requires a job of one process per device.
struct StepBound {
    Seconds time;
    Bytes memory; // of the fullest device
};
StepBound step_bound(const Job& job, const Topology& topology, const CostModel& cost,
                     const DeviceMemory& device);

} // namespace trainyard
