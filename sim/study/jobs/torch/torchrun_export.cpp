#include "sim/base/quoted.h"
#include "sim/study/jobs/torch/trainer_arguments.h"

#include <array>

namespace trainyard {
namespace {

constexpr std::array<std::pair<AttentionKernel, std::string_view>, 3> attention_names{
    {{AttentionKernel::unfused, "eager"},
     {AttentionKernel::sdpa, "sdpa"},
     {AttentionKernel::flash2, "flash_attention_2"}}};

} // namespace

std::string write_torchrun(const ExportedJob& exported)
{
    const Training& training = exported.job.training;
    const Strategy& strategy = exported.job.strategy;
    std::string out = "#!/bin/bash\n";
    for (const auto& [name, value] : exported.scenario.environment)
        out += fmt::format("export {}={}\n", name, shell_word(value));
    out += fmt::format("torchrun --nnodes {} --nproc-per-node {} train.py", exported.nodes,
                       exported.gpus_per_node);
    const auto add = [&](const std::string& argument) { out += " \\\n    " + argument; };
    add(fmt::format("--per_device_train_batch_size {}", training.micro_batch));
    add(fmt::format("--gradient_accumulation_steps {}", exported.job.micro_batches()));
    add(fmt::format("--max_seq_length {}", training.sequence_length));
    if (training.precision == Precision::bf16 || training.precision == Precision::fp16 ||
        training.precision == Precision::tf32)
        add(fmt::format("--{}", to_name(training.precision)));
    if (strategy.zero == 3)
        add(fmt::format("--fsdp \"{} auto_wrap{}\"",
                        strategy.shard_group == exported.gpus_per_node ? "hybrid_shard"
                        : *strategy.reshard_after_forward              ? "full_shard"
                                                                       : "shard_grad_op",
                        strategy.offload.parameters == OffloadTarget::cpu ? " offload" : ""));
    else
        add(fmt::format("--ddp_bucket_cap_mb {}", strategy.bucket_cap.value() >> 20));
    if (strategy.ddp.find_unused_parameters)
        add("--ddp_find_unused_parameters True");
    if (training.recompute == Recompute::full)
        add("--gradient_checkpointing");
    for (const auto& [kernel, name] : attention_names)
        if (exported.job.software.kernels.attention == kernel)
            add(fmt::format("--attn_implementation {}", name));
    add(training.optimizer == Optimizer::sgd         ? "--optim sgd"
        : training.optimizer == Optimizer::adafactor ? "--optim adafactor"
                                                     : "--optim adamw_torch");
    if (training.lora) {
        std::string modules;
        for (const AdapterTarget target : training.lora->targets)
            modules += fmt::format(" {}", to_name(target));
        add(fmt::format("--lora_r {}", training.lora->rank));
        add("--lora_target_modules" + modules);
    }
    if (exported.job.software.name == "torch-compile-fsdp")
        add("--torch_compile");
    return out + "\n";
}

} // namespace trainyard
