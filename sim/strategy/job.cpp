#include "sim/strategy/job.h"

#include "sim/strategy/data/data_misfits.h"
#include "sim/strategy/misfits.h"
#include "sim/strategy/optimizers.h"
#include "sim/strategy/pipeline/layout.h"
#include "sim/strategy/rank_layout.h"
#include "sim/strategy/schedule.h"
#include "sim/strategy/weight_gradients.h"
#include "sim/workload/number_format.h"

#include <algorithm>
#include <set>

namespace trainyard {

namespace {

// Sizes below one come only from values made in memory; files are checked by the field tables.
Problems impossible_sizes(const Job& job)
{
    Problems problems;
    const auto at_least_one = [&](const char* pointer, std::int64_t value) {
        if (value < 1)
            problems.push_back(
                refusal(pointer, std::to_string(value) + " is too small", "at least 1"));
    };
    at_least_one("/strategy/tp", job.strategy.tp);
    at_least_one("/strategy/pp", job.strategy.pp);
    at_least_one("/strategy/vpp", job.strategy.vpp);
    at_least_one("/strategy/cp", job.strategy.cp);
    at_least_one("/strategy/ep", job.strategy.ep);
    at_least_one("/strategy/etp", job.strategy.etp);
    at_least_one("/strategy/dp", job.strategy.dp.value_or(1));
    at_least_one("/strategy/shard_group", job.strategy.shard_group.value_or(1));
    at_least_one("/strategy/fsdp/reshard_ranks", job.strategy.fsdp.reshard_ranks.value_or(1));
    at_least_one("/training/sequence_length", job.training.sequence_length);
    at_least_one("/training/global_batch", job.training.global_batch);
    at_least_one("/training/micro_batch", job.training.micro_batch);
    return problems;
}

void fill_in(Job& job)
{
    Strategy& strategy = job.strategy;
    const SoftwareClass& software = job.software;
    if (!strategy.overlap.dp)
        strategy.overlap.dp = software.overlaps_dp;
    if (!strategy.overlap.tp)
        strategy.overlap.tp = software.overlaps_tp;
    if (!strategy.overlap.pp)
        strategy.overlap.pp = software.overlaps_pp;
    if (!job.training.formats.parameter_gather)
        job.training.formats.parameter_gather =
            software.gathers_narrow_parameters && gathers_parameters(job.training.precision);
    if (!strategy.tensor.beside_weight_gradient)
        strategy.tensor.beside_weight_gradient = software.kernels.tp_beside_weight_gradient;
    if (!strategy.experts.dispatcher)
        strategy.experts.dispatcher = software.kernels.one_copy_per_node
                                          ? Dispatcher::one_copy_per_node
                                          : Dispatcher::all_to_all;
    if (!job.training.fp32_gradients)
        job.training.fp32_gradients = software.fp32_gradients;
    if (strategy.tp == 1)
        strategy.sequence_parallel = false; // it cuts over the tensor-parallel group
    else if (!strategy.sequence_parallel)
        strategy.sequence_parallel =
            software.sequence_parallel && job.model.is_transformer() &&
            job.training.sequence_length % (std::int64_t{strategy.cp} * strategy.tp) == 0;
    if (strategy.tp > 1 && !*strategy.sequence_parallel)
        strategy.overlap.tp = false; // an all-reduce is not cut up beside its product
    if (strategy.vpp > 1 && strategy.schedule == Strategy{}.schedule)
        strategy.schedule = "interleaved-1f1b";
    if (!strategy.pipeline.norm_in_turn) {
        const PipelineSchedule* schedule = find_schedule(strategy.schedule);
        strategy.pipeline.norm_in_turn = schedule != nullptr && schedule->ends_in_turn();
    }
}

// Nodes that the expert group of rank 0 touches; rank i runs on device i.
int expert_group_nodes(const Job& job)
{
    std::set<std::uint32_t> nodes;
    for (const RankId rank : RankLayout(job).members(GroupKind::ep, RankId{0}))
        nodes.insert(rank.value / static_cast<std::uint32_t>(job.gpus_per_node));
    return static_cast<int>(nodes.size());
}

// What data-parallel options mean when nobody says.
void fill_in_data_parallel(Job& job)
{
    Strategy& strategy = job.strategy;
    const bool one_stage = strategy.pp == 1;
    if (!strategy.sharding.style)
        strategy.sharding.style =
            strategy.zero == 2 ? ShardingStyle::deepspeed : ShardingStyle::megatron;
    if (!strategy.sharding.overlap_param_gather)
        strategy.sharding.overlap_param_gather =
            *strategy.overlap.dp && *strategy.sharding.style == ShardingStyle::megatron;
    if (!strategy.reshard_after_forward)
        strategy.reshard_after_forward = one_stage;
    if (!strategy.fsdp.reshard_after_backward)
        strategy.fsdp.reshard_after_backward = one_stage;
    if (!strategy.fsdp.no_sync)
        strategy.fsdp.no_sync = !one_stage;
    // All ranks in one shard group: no replicas.
    if (strategy.shard_group == job.dp() * strategy.cp)
        strategy.shard_group.reset();
    if (strategy.fsdp.reshard_ranks == 1) // FSDP2 takes that for not resharding
        strategy.reshard_after_forward = false;
    if (strategy.fsdp.reshard_ranks == 1 || strategy.fsdp.reshard_ranks == job.dp() * strategy.cp)
        strategy.fsdp.reshard_ranks.reset();
}

} // namespace

Checked<Job> resolve(const JobRequest& request)
{
    Job job{request.model,         request.training,    request.strategy, request.software,
            request.gpus_per_node, request.cuda_graphs, request.launches, Seconds(0),
            request.data};
    Problems problems = impossible_sizes(job);
    if (!problems.empty())
        return tl::unexpected(problems);
    fill_in(job);
    const Problems misplaced = lay_out(job);
    problems = place_on_devices(job, request.devices);
    const bool placed = problems.empty();
    if (placed)
        fill_in_data_parallel(job);
    const auto add = [&](const Problems& more) {
        problems.insert(problems.end(), more.begin(), more.end());
    };
    add(misplaced);
    if (misplaced.empty())
        add(model_misfits(job, request.devices));
    add(packing_misfits(job));
    add(format_misfits(job));
    add(optimizer_misfits(job));
    add(group_misfits(job));
    add(data_misfits(job));
    if (placed) {
        add(step_misfits(job));
        add(data_parallel_misfits(job));
    }
    if (problems.empty()) // shards are found by the layout of a job that fits
        add(offload_misfits(job));
    if (!problems.empty())
        return tl::unexpected(problems);
    return job;
}

int weight_gradient_bytes(const Job& job)
{
    const int storage = storage_bytes(job.training.precision);
    // Shards are all that is kept of gradients that are reduced after each micro-batch: in the next
    // one they are new.
    const bool new_each_time =
        job.strategy.zero >= 2 && !*job.strategy.fsdp.no_sync && job.dp() * job.strategy.cp > 1;
    if (job.micro_batches() == 1 || new_each_time)
        return storage;
    return *job.training.fp32_gradients ? 8 : 2 * storage; // added to: read and written
}

bool has_uneven_experts(const Job& job)
{
    const std::vector<double> loads = expert_loads(job.strategy.experts, job.strategy.ep);
    return std::ranges::any_of(loads, [&](double load) { return load != loads.front(); });
}

Partition partition_of(const Job& job)
{
    Partition partition;
    partition.micro_batch = job.training.micro_batch;
    partition.sequence_length = job.training.sequence_length;
    partition.tp = job.strategy.tp;
    partition.cp = job.strategy.cp;
    partition.ep = job.strategy.ep;
    partition.etp = job.strategy.etp;
    partition.sequence_parallel = *job.strategy.sequence_parallel;
    partition.vocabulary_parallel = job.strategy.tensor.vocabulary;
    partition.context = job.strategy.context;
    partition.experts = job.strategy.experts;
    partition.expert_imbalance = std::ranges::max(expert_loads(job.strategy.experts, partition.ep));
    partition.precision = job.training.precision;
    partition.kernels = job.software.kernels;
    partition.lora = job.training.lora;
    if (job.training.recompute == Recompute::selective && !job.training.recompute_modules.empty())
        partition.recompute_modules = job.training.recompute_modules;
    if (job.training.packing)
        partition.documents = documents_of(*job.training.packing, job.training.sequence_length);
    partition.kernels.tp_beside_weight_gradient = *job.strategy.tensor.beside_weight_gradient;
    partition.weight_gradient_bytes = weight_gradient_bytes(job);
    partition.ep_nodes = expert_group_nodes(job);
    if (const auto* transformer = std::get_if<Transformer>(&job.model.architecture)) {
        const std::int64_t multiple =
            job.software.pads_vocabulary ? 128 * partition.vocabulary_ranks() : 1;
        partition.padded_vocabulary =
            (transformer->vocabulary + multiple - 1) / multiple * multiple;
    }
    return partition;
}

} // namespace trainyard
