#include "sim/strategy/model_states.h"

#include "sim/strategy/fsdp_widths.h"
#include "sim/strategy/narrow_casts.h"
#include "sim/strategy/offload.h"
#include "sim/strategy/state_shards.h"
#include "sim/workload/number_format.h"

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
    LayerParameters trained;   // with gradients and optimizer state
    LayerParameters optimizer; // bytes
    double trained_root = 0;
    double largest_trained = 0;

    explicit ParameterSums(const std::vector<HeldLayer>& held)
    {
        for (const HeldLayer& layer : held) {
            const double whole = layer.parameters.dense + layer.parameters.expert;
            dense += layer.parameters.dense;
            expert += layer.parameters.expert;
            (layer.in_root_unit() ? root : layers) += whole;
            if (!layer.in_root_unit())
                largest_layer = std::max(largest_layer, whole);
            trained.dense += layer.trained.dense;
            trained.expert += layer.trained.expert;
            optimizer.dense += layer.optimizer_state.dense;
            optimizer.expert += layer.optimizer_state.expert;
            if (layer.in_root_unit())
                trained_root += layer.trained.total();
            else
                largest_trained = std::max(largest_trained, layer.trained.total());
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

namespace {

// Whole units that FSDP holds besides the shards, as parameters of them.
double gathered_parameters(const Job& job, const ParameterSums& sums)
{
    const Strategy& strategy = job.strategy;
    if (!*strategy.reshard_after_forward || !strategy.fsdp.limit_all_gathers)
        return sums.root + sums.layers;
    const double units =
        1.0 + std::max(strategy.fsdp.forward_prefetch.value_or(strategy.prefetch),
                       strategy.fsdp.backward_prefetch.value_or(strategy.prefetch));
    const double layers = strategy.fsdp.unit_layers == 0
                              ? sums.layers
                              : sums.largest_layer * strategy.fsdp.unit_layers;
    const double whole = std::min(units * layers, sums.layers);
    const double kept_near =
        strategy.fsdp.reshard_ranks ? (sums.layers - whole) / *strategy.fsdp.reshard_ranks : 0.0;
    return sums.root + whole + kept_near;
}

// The root's gradients and one unit's wait as kernels wrote them, the unit's also as they travel.
double unreduced_bytes(const Job& job, const ParameterSums& sums)
{
    const FsdpWidths widths = fsdp_widths(job);
    const int layers = job.strategy.fsdp.unit_layers;
    const double all = sums.trained.total() - sums.trained_root;
    const double unit = layers == 0 ? all : std::min(sums.largest_trained * layers, all);
    const double summed = *job.strategy.fsdp.no_sync ? sums.trained.total() : 0.0;
    return widths.computed * (sums.trained_root + unit) + widths.reduced * unit +
           widths.gradients * summed;
}

// DeepSpeed's flat buffer, two of them where one is filled while the other is reduced.
double flat_buffers(const Job& job, double parameters)
{
    const double buffers = *job.strategy.overlap.dp ? 2 : 1;
    return std::min(buffers * static_cast<double>(job.strategy.sharding.reduce_bucket), parameters);
}

// DDP's copies of gradients, and what travels in place of them.
double bucket_bytes(const Job& job, double parameters, int width)
{
    const DdpOptions& ddp = job.strategy.ddp;
    const bool view = ddp.gradient_as_bucket_view.value_or(!job.software.copies_into_buckets);
    const double cast = ddp.compression == GradientCompression::none ? 0.0 : 2.0;
    return parameters * ((view ? 0 : width) + cast);
}

// The host holds what its CPU updates: states, gradients as they arrive, parameters if they live
// there. What a peer holds is in nobody's count here.
void move_to_host(const Job& job, ModelStates& states)
{
    const OffloadOptions& offload = job.strategy.offload;
    const auto leaves = [&](OffloadTarget target, Bytes& bytes) {
        if (target == OffloadTarget::none)
            return;
        if (target != OffloadTarget::peer)
            states.host += bytes;
        bytes = Bytes(0);
    };
    if (host_updates(job)) {
        states.host += states.gradients;
        if (leaves_at_once(job))
            states.gradients = Bytes(0);
    }
    leaves(offload.optimizer, states.optimizer);
    leaves(offload.parameters, states.parameters);
}

// Narrow copies of 16-bit matrices, for both directions, from the step's one cast on
// (lower/step_end.cpp).
double kept_casts(const Job& job, const std::vector<HeldLayer>& layers)
{
    return casts_parameters(job)
               ? 2 * operand_bytes(job.training.precision) * narrow_parameters(layers)
               : 0;
}

} // namespace

ModelStates model_states(const Job& job, const std::vector<HeldLayer>& layers)
{
    const ParameterSums sums(layers);
    const StateBytes bytes = state_bytes(job.training);
    const int zero = job.strategy.zero;
    const double whole = sums.dense + sums.expert;
    const StateShards dense = dense_shards(job);
    const StateShards expert = expert_shards(job);
    const double shard = sums.dense / dense.ranks + sums.expert / expert.ranks;
    const bool replicas = dense.all() > 1 || expert.all() > 1;
    const auto of_rank = [&](const LayerParameters& sum, bool sharded) {
        return sharded ? sum.dense / dense.ranks + sum.expert / expert.ranks : sum.total();
    };

    ModelStates states;
    states.parameters =
        rounded_up(bytes.parameters * (zero == 3 ? shard : whole) + kept_casts(job, layers));
    states.gradients = rounded_up(bytes.gradients * of_rank(sums.trained, zero >= 2));
    states.optimizer = rounded_up(of_rank(sums.optimizer, zero >= 1));
    move_to_host(job, states);
    if (zero == 3 && replicas && sums.dense + sums.expert > 0) {
        states.unsharded = rounded_up(fsdp_widths(job).gathered * gathered_parameters(job, sums));
        states.unreduced = rounded_up(unreduced_bytes(job, sums));
    }
    if (zero == 0 && replicas)
        states.buckets = rounded_up(bucket_bytes(job, sums.trained.total(), bytes.gradients));
    if (replicas && (zero == 1 || zero == 2) &&
        *job.strategy.sharding.style == ShardingStyle::deepspeed)
        states.buckets = rounded_up(bytes.gradients * flat_buffers(job, sums.trained.total()));
    return states;
}

} // namespace trainyard
