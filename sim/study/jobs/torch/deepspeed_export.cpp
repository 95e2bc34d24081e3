#include "sim/study/jobs/torch/deepspeed.h"

namespace trainyard {

std::string write_deepspeed(const ExportedJob& exported)
{
    const Training& training = exported.job.training;
    const Strategy& strategy = exported.job.strategy;
    Json out = Json::object();
    out["train_batch_size"] = training.global_batch;
    out["train_micro_batch_size_per_gpu"] = training.micro_batch;
    out["gradient_accumulation_steps"] = exported.job.micro_batches();
    out["bf16"]["enabled"] = training.precision == Precision::bf16;
    out["fp16"]["enabled"] = training.precision == Precision::fp16;
    if (*training.fp32_gradients)
        out["communication_data_type"] = "fp32";
    out["optimizer"]["type"] = training.optimizer == Optimizer::sgd    ? "SGD"
                               : training.optimizer == Optimizer::muon ? "Muon"
                                                                       : "AdamW";
    Json& zero = out["zero_optimization"];
    zero["stage"] = strategy.zero;
    zero["overlap_comm"] = *strategy.overlap.dp;
    if (strategy.zero == 0)
        zero["reduce_bucket_size"] =
            strategy.bucket_cap.value() / static_cast<unsigned>(gradient_bytes(training));
    if (strategy.zero == 1 || strategy.zero == 2) {
        zero["reduce_bucket_size"] = strategy.sharding.reduce_bucket;
        zero["allgather_bucket_size"] = strategy.sharding.gather_bucket;
        zero["reduce_scatter"] = strategy.sharding.reduce_scatter;
    }
    if (strategy.zero == 3 && strategy.shard_group)
        zero["mics_shard_size"] = *strategy.shard_group;
    if (strategy.zero == 3 && strategy.fsdp.reshard_ranks)
        zero["zero_hpz_partition_size"] = *strategy.fsdp.reshard_ranks;
    if (strategy.offload.optimizer == OffloadTarget::cpu)
        zero["offload_optimizer"]["device"] = "cpu";
    if (strategy.offload.parameters == OffloadTarget::cpu)
        zero["offload_param"]["device"] = "cpu";
    if (strategy.tp > 1)
        out["tensor_parallel"]["autotp_size"] = strategy.tp;
    if (strategy.cp > 1)
        out["sequence_parallel_size"] = strategy.cp;
    if (strategy.pp > 1)
        out["pipeline"]["stages"] = strategy.pp;
    if (strategy.pp > 1 && training.recompute == Recompute::full)
        out["pipeline"]["activation_checkpoint_interval"] = 1;
    return to_text(out) + "\n";
}

} // namespace trainyard
