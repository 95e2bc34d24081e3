#include "sim/strategy/lower/step_end.h"

#include "sim/strategy/lower/bucketed_reduction.h"
#include "sim/strategy/lower/offloaded_update.h"
#include "sim/strategy/lower/shard_exchange.h"
#include "sim/strategy/narrow_casts.h"
#include "sim/strategy/optimizers.h"
#include "sim/workload/number_format.h"

#include <algorithm>

namespace trainyard {

namespace {

// Of the layers' sum, what a rank updates: all, or with ZeRO its shard.
double of_rank(const Job& job, const LayerParameters& sum)
{
    const bool sharded = job.strategy.zero >= 1;
    return sum.dense / (sharded ? dense_shards(job).ranks : 1) +
           sum.expert / (sharded ? expert_shards(job).ranks : 1);
}

// The profile's figure is Adam's.
double optimizer_bytes(const Job& job, const StageContent& stage)
{
    LayerParameters adam_equivalent;
    for (std::size_t i = 0; i < stage.layers.size(); ++i) {
        const OptimizerShare share = optimizer_share(
            job, stage.work.kinds[stage.layers[i].kind].layer.kind, stage.trained(i));
        adam_equivalent.dense += share.adam_equivalent.dense;
        adam_equivalent.expert += share.adam_equivalent.expert;
    }
    return job.software.optimizer_bytes_per_parameter * of_rank(job, adam_equivalent);
}

std::vector<LayerKind> kinds_of(const StageContent& stage)
{
    std::vector<LayerKind> kinds;
    for (const PlacedLayer& layer : stage.layers)
        kinds.push_back(stage.work.kinds[layer.kind].layer.kind);
    return kinds;
}

// First and last stage each hold the embedding and add up their gradients (Shoeybi 2019). Where one
// device holds both ends of the pipeline, they share one copy.
void reduce_tied_embedding(StageWriter& writer, int stage_number)
{
    const Job& job = writer.job();
    const std::vector<int> ends = apart_ends(placement_of(job));
    if (!ties_across_devices(job) || job.training.lora ||
        std::ranges::find(ends, stage_number) == ends.end())
        return;
    const auto& transformer = std::get<Transformer>(job.model.architecture);
    const Partition partition = partition_of(job);
    const int shards = job.strategy.zero == 3 ? dense_shards(job).ranks : 1; // FSDP holds shards
    const double elements = static_cast<double>(partition.padded_vocabulary) *
                            static_cast<double>(transformer.hidden) / partition.vocabulary_ranks() /
                            shards;
    writer.transfer({.kind = CollectiveKind::all_reduce,
                     .group = GroupKind::embedding,
                     .bytes = scaled(Bytes(1), elements * gradient_bytes(job)),
                     .phase = Phase::gradient_sync,
                     .stream = data_parallel_stream,
                     .waits = {writer.computed(), writer.tail()},
                     .record = writer.reduced()});
}

// Whole matrices between sequence-parallel ones, and whole halves of adapters, see a part of the
// sequence or of the columns on each TP rank.
void sum_over_tp(StageWriter& writer, const StageContent& stage)
{
    const Job& job = writer.job();
    double parameters = 0;
    for (const PlacedLayer& layer : stage.layers)
        parameters += stage.work.kinds[layer.kind].held.summed_over_tp;
    if (job.strategy.tp == 1 || parameters == 0)
        return;
    writer.transfer({.kind = CollectiveKind::all_reduce,
                     .group = GroupKind::tp,
                     .bytes = scaled(Bytes(1), parameters * gradient_bytes(job)),
                     .phase = Phase::gradient_sync,
                     .stream = data_parallel_stream,
                     .waits = {writer.computed(), writer.tail()},
                     .record = writer.reduced()});
}

// Devices that hold the same layers for micro-batches of their own add up the gradients of these:
// those each of them updates.
void reduce_between_twins(StageWriter& writer, const StageContent& stage)
{
    const Job& job = writer.job();
    LayerParameters trained;
    for (std::size_t i = 0; i < stage.layers.size(); ++i) {
        trained.dense += stage.trained(i).dense;
        trained.expert += stage.trained(i).expert;
    }
    writer.transfer({.kind = CollectiveKind::all_reduce,
                     .group = GroupKind::twin,
                     .bytes = scaled(Bytes(1), gradient_bytes(job) * of_rank(job, trained)),
                     .phase = Phase::gradient_sync,
                     .stream = data_parallel_stream,
                     .waits = {writer.computed(), writer.tail(), writer.reduced()},
                     .record = writer.reduced()});
}

void update(StageWriter& writer, const StageContent& stage)
{
    const Job& job = writer.job();
    const OffloadOptions& offload = job.strategy.offload;
    if (host_updates(job))
        return write_host_update(writer, stage);
    if (offload.optimizer == OffloadTarget::peer)
        write_peer_update(writer, stage);
    else
        writer.memory_pass({.name = "optimizer",
                            .bytes = optimizer_bytes(job, stage),
                            .products = newton_schulz(job, kinds_of(stage)),
                            .launches = job.software.optimizer_kernels,
                            .phase = Phase::optimizer,
                            .waits = {writer.reduced(), writer.tail()},
                            .blocks_host = true});
    if (offload.parameters != OffloadTarget::none)
        write_parameters_home(writer, stage);
}

// Matrices in 16 bit are cast once per step, along both directions; FSDP's arrive with each gather.
// Parameters that are gathered in the narrow format need no cast.
void cast_parameters(StageWriter& writer, const StageContent& stage)
{
    const Job& job = writer.job();
    const Precision format = job.training.precision;
    if (!casts_parameters(job))
        return;
    std::vector<HeldLayer> held;
    for (const PlacedLayer& layer : stage.layers)
        held.push_back(stage.work.kinds[layer.kind].held);
    writer.memory_pass(
        {.name = "cast parameters",
         .bytes = (storage_bytes(format) + 2 * operand_bytes(format)) * narrow_parameters(held),
         .launches = static_cast<int>(stage.layers.size()),
         .phase = Phase::parameter_sync,
         .waits = {writer.reduced()}});
}

constexpr Bytes norm_bytes(8);           // fp32 norm and overflow flag
constexpr std::uint8_t norm_channel = 2; // beside activations and gradients

bool ranks_differ(const Strategy& strategy)
{
    return strategy.zero > 0 || strategy.tp > 1 || strategy.pp > 1 || strategy.ep > 1;
}

void agree(StageWriter& writer, GroupKind group)
{
    writer.transfer({.kind = CollectiveKind::all_reduce,
                     .group = group,
                     .bytes = norm_bytes,
                     .phase = Phase::optimizer,
                     .stream = data_parallel_stream,
                     .waits = {writer.computed(), writer.tail(), writer.reduced()},
                     .record = writer.reduced()});
}

void hand_on(StageWriter& writer, Direction direction)
{
    PlanBuilder& plan = writer.plan();
    const bool sends = direction == Direction::send;
    const std::string name = sends ? "pp norm send" : "pp norm receive";
    const CostId cost = plan.transfer({.kind = CollectiveKind::send_receive,
                                       .bytes = norm_bytes,
                                       .backend = writer.job().strategy.backend,
                                       .interference = Interference::none});
    writer.op(
        {.op = {.kind = OpKind::exchange,
                .stream = plan.communication_stream(name),
                .label = plan.transfer_label(sends ? "pp send" : "pp receive", Phase::optimizer,
                                             CollectiveKind::send_receive, GroupKind::pp)},
         .name = name,
         .waits = {writer.computed(), writer.tail(), writer.reduced()},
         .record = sends ? EventId::none() : writer.reduced(),
         .parts = {{.direction = direction,
                    .peer = sends ? next_stage : previous_stage,
                    .channel = norm_channel,
                    .cost = cost}}});
}

// How ranks come to know the norm of all gradients, by which they clip them.
//
// The norm is a sum over all ranks that hold different parameters. Plain DDP ranks hold the same
// ones and agree without asking. Else all ranks agree before any of them updates; or, where stages
// end in turn, each adds its part to what the stage before hands on, updates, and would roll back
// if the whole, known later, asked for it (post-validation; Qi 2023, section 4). Gradients are
// taken to be in order: no roll-back is timed.
void write_gradient_norm(StageWriter& writer, int stage)
{
    const Strategy& strategy = writer.job().strategy;
    if (!ranks_differ(strategy))
        return;
    if (!*strategy.pipeline.norm_in_turn) {
        agree(writer, GroupKind::world);
        return;
    }
    agree(writer, GroupKind::tp);
    if (strategy.zero > 0)
        agree(writer, GroupKind::dp);
    else if (strategy.ep > 1)
        agree(writer, GroupKind::ep);
    if (stage > 0)
        hand_on(writer, Direction::receive);
    if (stage + 1 < strategy.pp)
        hand_on(writer, Direction::send);
}

} // namespace

void write_update(StageWriter& writer, const StageContent& stage)
{
    update(writer, stage);
    writer.host_work("optimizer bookkeeping", writer.job().software.optimizer_time,
                     Phase::optimizer);
}

void write_step_end(StageWriter& writer, const StageContent& stage, int stage_number,
                    DataParallel& data_parallel)
{
    const SoftwareClass& software = writer.job().software;
    data_parallel.reduce_rest(writer);
    reduce_tied_embedding(writer, stage_number);
    sum_over_tp(writer, stage);
    reduce_between_twins(writer, stage);
    write_gradient_norm(writer, stage_number);
    write_update(writer, stage);
    data_parallel.publish(writer);
    cast_parameters(writer, stage);
    writer.host_work("step overhead", software.step_overhead, Phase::other);
}

} // namespace trainyard
