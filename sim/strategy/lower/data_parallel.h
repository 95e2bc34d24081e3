#pragma once

// Data parallelism as a stage sees it: what happens around each layer's pass, before the optimizer
// and after it. One implementation per file: DDP, distributed optimizer (Megatron's ZeRO-1),
// DeepSpeed's ZeRO-1 and ZeRO-2, FSDP (ZeRO-3).

#include "sim/strategy/lower/stage_writer.h"
#include "sim/strategy/schedule.h"

#include <memory>
#include <span>

namespace trainyard {

// One layer's forward or backward pass of one micro-batch.
struct Visit {
    PassKind kind = PassKind::forward;
    int micro_batch = 0;
    std::size_t layer = 0; // of the stage's layers
    bool first = false;    // first forward pass of the layer in the step
    bool last = false;     // last backward pass of the layer in the step

    UseIndex index(const PlacedLayer& placed) const
    {
        return {static_cast<std::uint16_t>(micro_batch), placed.number};
    }
};

// What a scheme needs to know of its stage; outlives the scheme.
struct StageContent {
    const JobWork& work;
    std::vector<PlacedLayer> layers;
    std::vector<Visit> visits; // of the step, in order

    const LayerParameters& parameters(std::size_t layer) const
    {
        return work.kinds[layers[layer].kind].held.parameters;
    }
    // Those with gradients.
    const LayerParameters& trained(std::size_t layer) const
    {
        return work.kinds[layers[layer].kind].held.trained;
    }
};

class DataParallel {
public:
    virtual ~DataParallel() = default;

    // What a visit's block takes and gives back besides activations.
    virtual TensorChanges memory(std::size_t) const { return {}; }

    // Before a visit's block: its result is what the block must wait for besides.
    virtual EventId before(StageWriter& writer, std::size_t visit) = 0;
    virtual void after(StageWriter& writer, std::size_t visit, const LayerBlock& block) = 0;
    // After the last pass: what must be done before the optimizer may run.
    virtual void reduce_rest(StageWriter& writer) = 0;
    // After the optimizer.
    virtual void publish(StageWriter& writer) = 0;
};

std::unique_ptr<DataParallel> make_ddp(const Job& job, const StageContent& stage);
std::unique_ptr<DataParallel> make_distributed_optimizer(const Job& job, const StageContent& stage);
std::unique_ptr<DataParallel> make_deepspeed_zero(const Job& job, const StageContent& stage);
std::unique_ptr<DataParallel> make_fsdp(const Job& job, const StageContent& stage);
std::unique_ptr<DataParallel> make_data_parallel(const Job& job, const StageContent& stage);

} // namespace trainyard
