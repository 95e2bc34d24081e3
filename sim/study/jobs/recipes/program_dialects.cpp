// Dialects of programs that take settings of recipes on their command line, or defaults of their
// own where it says nothing.

#include "sim/study/jobs/recipes/dialect.h"
#include "sim/study/jobs/shell/arguments.h"

namespace trainyard {
namespace {

constexpr std::array<std::string_view, 3> all_linear_unless{"--lora-target-modules"};
// ms-swift's arguments: formats of the published weights, a batch of 1.
constexpr std::array swift_unsaid{
    UnsaidArgument{"--bf16", "", {"--fp16"}},
    UnsaidArgument{"--gradient-checkpointing"},
    UnsaidArgument{"--per-device-train-batch-size", "1", {"--batch-size"}},
    UnsaidArgument{"--attn-implementation", "sdpa", {"--attn-impl", "--use-flash-attn"}},
    UnsaidArgument{"--tuner-type", "lora", {"--train-type", "--sft-type"}},
    UnsaidArgument{"--target-modules", "all-linear", all_linear_unless, "--tuner-type", "lora"},
    UnsaidArgument{"--target-modules", "all-linear", all_linear_unless, "--train-type", "lora"},
    UnsaidArgument{"--target-modules", "all-linear", all_linear_unless, "--sft-type", "lora"},
};
// TRL's SFTConfig.
constexpr std::array trl_unsaid{
    UnsaidArgument{"--bf16", "", {"--fp16"}},
    UnsaidArgument{"--gradient-checkpointing"},
    UnsaidArgument{"--max-length", "1024", {"--max-seq-length"}},
};
// ms-swift's arguments for Megatron-Core.
constexpr std::array swift_core_unsaid{
    UnsaidArgument{"--bf16", "", {"--fp16"}}, // the format of the published weights
    UnsaidArgument{"--global-batch-size", "16"},
    UnsaidArgument{"--use-distributed-optimizer"},
    UnsaidArgument{"--recompute-granularity", "selective"},
    UnsaidArgument{"--attention-backend", "flash", {"--use-flash-attn"}},
    UnsaidArgument{"--cross-entropy-loss-fusion"},
    UnsaidArgument{"--moe-token-dispatcher-type", "alltoall", {"--moe-enable-deepep"}},
    UnsaidArgument{"--expert-tensor-parallel-size", "1"},
};
// What slime and miles set before Megatron-LM reads the arguments.
constexpr std::array slime_unsaid{
    UnsaidArgument{"--bf16", "", {"--fp16"}},
    UnsaidArgument{"--use-distributed-optimizer"},
    UnsaidArgument{"--seq-length", "4096"},
};
// Llama Cookbook's training and FSDP configurations.
constexpr std::array cookbook_unsaid{
    UnsaidArgument{"--bf16", "", {"--pure-bf16"}},
    UnsaidArgument{"--gradient-checkpointing"},
    UnsaidArgument{"--context-length", "4096"},
    UnsaidArgument{"--batch-size-training", "4"},
};
// ColossalAI's plugins, beside DDP's own.
constexpr std::array colossal_unsaid{
    UnsaidArgument{"--mixed-precision", "fp16", {"--bf16", "--precision", "--fp16"}},
};
// verl's trainer for supervised finetuning: its configuration, and what its program calls.
constexpr std::array verl_keys{
    RecipeKey{"model.partial_pretrain", "", "--model-name-or-path", ""},
    RecipeKey{"model.enable_gradient_checkpointing", "true", "--gradient-checkpointing", "-"},
    RecipeKey{"model.lora_rank", "0", "", ""},
    RecipeKey{"fsdp_config.cpu_offload", "true", "--fsdp-offload", "-"},
    RecipeKey{"fsdp_config.offload_params", "true", "--fsdp-offload", "-"},
    RecipeKey{"data.train_batch_size", "", "--global-batch-size", ""},
    RecipeKey{"data.micro_batch_size_per_gpu", "", "--per-device-train-batch-size", ""},
    RecipeKey{"data.micro_batch_size", "", "--micro-batch-size-of-all-gpus", ""},
    RecipeKey{"ulysses_sequence_parallel_size", "", "--sequence-parallel-size", ""},
    RecipeKey{"use_remove_padding", "", "", ""},
    RecipeKey{"model.strategy", "", "", ""},
};
constexpr std::array verl_unsaid{
    UnsaidArgument{"--bf16"},
    UnsaidArgument{"--fsdp", "full_shard"},
    UnsaidArgument{"--attn-implementation", "flash_attention_2"},
    UnsaidArgument{"--global-batch-size", "256"},
    UnsaidArgument{"--per-device-train-batch-size", "4", {"--micro-batch-size-of-all-gpus"}},
    UnsaidArgument{"--max-length", "1024"},
};
// LLaVA's training arguments.
constexpr std::array llava_unsaid{
    UnsaidArgument{"--lora-r", "64", {}, "--lora-enable", "True"},
    UnsaidArgument{
        "--lora-target-modules", "all-linear", {"--target-modules"}, "--lora-enable", "True"},
};
constexpr RecipeDialect llava{"LLaVA", "", "", RecipeWords::trainer, {}, llava_unsaid};
constexpr RecipeDialect verl{"verl", "", "", RecipeWords::trainer, verl_keys, verl_unsaid};
constexpr RecipeDialect colossal{"ColossalAI", "", "", RecipeWords::trainer, {}, colossal_unsaid};
constexpr RecipeDialect cookbook{"Llama Cookbook",     "", "",
                                 RecipeWords::trainer, {}, cookbook_unsaid};
constexpr RecipeDialect swift_on_core{"ms-swift on Megatron-Core", "", "",
                                      RecipeWords::megatron,       {}, swift_core_unsaid};
constexpr RecipeDialect slime{"slime", "", "", RecipeWords::megatron, {}, slime_unsaid};
constexpr RecipeDialect trl{"TRL", "", "", RecipeWords::trainer, {}, trl_unsaid};
constexpr RecipeDialect swift{"ms-swift", "", "", RecipeWords::trainer, {}, swift_unsaid};

} // namespace

const RecipeDialect* dialect_of_launch(std::string_view launcher, std::string_view program)
{
    const std::string_view word = program.substr(0, program.find(' '));
    const auto by = [&](std::string_view name) { return launcher.ends_with(name); };
    return word == "llamafactory-cli"                ? dialect_named("LLaMA-Factory")
           : word == "swift"                         ? &swift
           : word == "megatron"                      ? &swift_on_core
           : word == "trl"                           ? &trl
           : word == "axolotl"                       ? dialect_named("axolotl")
           : word == "verl.trainer.fsdp_sft_trainer" ? &verl
           : by("composer")                          ? dialect_named("LLM Foundry")
           : by("tune")                              ? dialect_named("torchtune")
                                                     : nullptr;
}

const RecipeDialect* dialect_of_arguments(const Arguments& arguments)
{
    const auto has = [&](std::string_view name) { return arguments.contains(name); };
    return has("--actor-num-gpus-per-node")             ? &slime
           : has("--enable-fsdp")                       ? &cookbook
           : has("--stage") && has("--finetuning-type") ? dialect_named("LLaMA-Factory")
           : has("--sft-type")                          ? &swift
           : has("--lora-enable")                       ? &llava
           : has("--plugin")                            ? &colossal
                                                        : nullptr;
}

} // namespace trainyard
