#include "sim/study/training/checkpoint_cost.h"

#include <algorithm>

namespace trainyard {

namespace {

// 16-bit weights, and master weights and two moments in fp32: 2.3 TB of BLOOM's 176 B parameters
// are 13.1 bytes each (BigScience 2022, tr11-176B), Llama 3's 70 B are saved with 11.2.
constexpr double bytes_per_parameter = 14;

// Per GPU. BLOOM wrote 2.3 TB in 40 s from 384 GPUs.
constexpr double storage_rate = 0.15e9;

// What Llama 3's storage sustained for 16,384 GPUs (Grattafiori 2024, section 3.3.1).
constexpr double most_storage = 2e12;

// Per GPU, over PCIe into pinned memory: a few gigabytes take 0.5 to 3 s (ByteCheckpoint, Wan
// 2024).
constexpr double copy_rate = 10e9;

} // namespace

CheckpointCost checkpoint_cost(const WholeTrainingRequest& request)
{
    const CheckpointModel& model = request.checkpoints;
    CheckpointCost cost;
    const double bytes = model.bytes ? static_cast<double>(model.bytes->value())
                                     : bytes_per_parameter * request.parameters;
    cost.bytes = Bytes(static_cast<std::uint64_t>(std::min(bytes, 9e18)));
    cost.rate =
        model.bandwidth.value_or(Bandwidth(std::min(storage_rate * request.gpus, most_storage)));
    cost.write = model.time ? *model.time : Seconds(bytes / cost.rate.value());
    cost.block = cost.write;
    if (model.asynchronous) {
        const Seconds copy(bytes / (copy_rate * request.gpus));
        cost.block = model.block ? *model.block : std::min(copy, cost.write);
    }
    return cost;
}

} // namespace trainyard
