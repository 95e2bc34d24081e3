#include "sim/strategy/model_states.h"

#include "sim/strategy/rank_layout.h"

#include <algorithm>
#include <cmath>

namespace trainyard {

namespace {

Bytes rounded_up(double bytes)
{
    return Bytes(static_cast<std::uint64_t>(std::ceil(bytes)));
}

// Parameters of a device: all, those FSDP never frees, and the largest layer.
struct ParameterSums {
    double dense = 0;
    double expert = 0;
    double root = 0;
    double layers = 0;
    double largest_layer = 0;
    double head = 0;

    explicit ParameterSums(const std::vector<HeldLayer>& held)
    {
        for (const HeldLayer& layer : held) {
            const double whole = layer.parameters.dense + layer.parameters.expert;
            dense += layer.parameters.dense;
            expert += layer.parameters.expert;
            (layer.in_root_unit() ? root : layers) += whole;
            if (!layer.in_root_unit())
                largest_layer = std::max(largest_layer, whole);
            if (layer.is_head())
                head += whole;
        }
    }
};

} // namespace

StateBytes state_bytes(const Training& training)
{
    const int storage = storage_bytes(training.precision);
    const int moments = training.optimizer == Optimizer::adam ? 8 : 4;
    return {.parameters = storage,
            .gradients = *training.fp32_gradients ? 4 : storage,
            .optimizer = storage == 4 ? moments : 4 + moments};
}

ModelStates model_states(const Job& job, const std::vector<HeldLayer>& layers)
{
    const ParameterSums sums(layers);
    const RankLayout layout(job);
    const StateBytes bytes = state_bytes(job.training);
    const double whole = sums.dense + sums.expert;
    const double shard = sums.dense / layout.group_size(GroupKind::dp) +
                         sums.expert / layout.group_size(GroupKind::edp);
    const bool fsdp = job.strategy.zero == 3;

    ModelStates states;
    states.parameters = rounded_up(bytes.parameters * (fsdp ? shard : whole));
    states.gradients = rounded_up(bytes.gradients * (fsdp ? shard : whole));
    states.optimizer = rounded_up(bytes.optimizer * (job.strategy.zero >= 1 ? shard : whole));
    if (fsdp && shard < whole) {
        const double ahead = (1.0 + job.strategy.prefetch) * sums.largest_layer;
        const double gathered =
            job.strategy.reshard_after_forward ? std::min(ahead, sums.layers) : sums.layers;
        states.unsharded = rounded_up(bytes.parameters * (sums.root + gathered));
        states.unreduced = rounded_up(bytes.parameters * (sums.root + sums.largest_layer) +
                                      bytes.gradients * sums.largest_layer);
    }
    if (job.software.copies_into_buckets && job.strategy.zero == 0 && shard < whole)
        states.buckets = states.gradients;
    if (job.software.spare_weight_gradients)
        states.spare = rounded_up(bytes.parameters * (sums.largest_layer + sums.head));
    return states;
}

} // namespace trainyard
