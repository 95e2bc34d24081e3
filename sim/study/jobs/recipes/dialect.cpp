#include "sim/study/jobs/recipes/dialect.h"

#include "sim/study/jobs/recipes/own_words.h"

#include <algorithm>
#include <array>

namespace trainyard {
namespace {

constexpr std::string_view on = "-";
constexpr std::string_view off = "off";

// Configurations of NeMo and Megatron-Core's dataclasses, as Megatron-LM's arguments.
constexpr std::array core_keys{
    RecipeKey{"num_moe_experts", "", "--num-experts", ""},
    RecipeKey{"num_nodes", "", "--num-nodes", ""},
    RecipeKey{"devices", "", "--gpus-per-node", ""},
    RecipeKey{"encoder_seq_length", "", "--seq-length", ""},
    RecipeKey{"virtual_pipeline_model_parallel_size", "", "--num-virtual-stages-per-pipeline-rank",
              ""},
    RecipeKey{"activations_checkpoint_granularity", "", "--recompute-granularity", ""},
    RecipeKey{"activations_checkpoint_method", "", "--recompute-method", ""},
    RecipeKey{"activations_checkpoint_num_layers", "", "--recompute-num-layers", ""},
    RecipeKey{"trainer.precision", "bf16", "--bf16", on},
    RecipeKey{"trainer.precision", "16", "--fp16", on},
    RecipeKey{"trainer.precision", "", "", ""},
    RecipeKey{"mixed_precision", "bf16", "--bf16", on},
    RecipeKey{"mixed_precision", "fp16", "--fp16", on},
    RecipeKey{"megatron_amp_O2", "", "", ""},
    RecipeKey{"multi_latent_attention", "false", "--multi-latent-attention", "false"},
    RecipeKey{"use_turbo_deepep", "true", "--moe-enable-deepep", on, "enable_primus_turbo"},
    RecipeKey{"activation", "fast-swiglu", "--swiglu", on},
    RecipeKey{"activation", "swiglu", "--swiglu", on},
    RecipeKey{"activation", "squared-relu", "--squared-relu", on},
    RecipeKey{"gated_linear_unit", "true", "--swiglu", on},
    RecipeKey{"bias", "false", "--disable-bias-linear", on},
    RecipeKey{"add_bias_linear", "false", "--disable-bias-linear", on},
    RecipeKey{"add_bias_linear", "", "", ""},
    RecipeKey{"share_embeddings_and_output_weights", "false",
              "--untie-embeddings-and-output-weights", on},
    RecipeKey{"share_embeddings_and_output_weights", "", "", ""},
    RecipeKey{"normalization", "rmsnorm", "--normalization", "RMSNorm"},
    RecipeKey{"normalization", "layernorm", "--normalization", "LayerNorm"},
    RecipeKey{"num_query_groups", "", "--num-query-groups", ""},
    RecipeKey{"optim.name", "distributed_fused_adam", "--use-distributed-optimizer", on},
    RecipeKey{"optim.name", "", "--optimizer", ""},
    RecipeKey{"optim.overlap_grad_sync", "true", "--overlap-grad-reduce", on},
    RecipeKey{"optim.overlap_param_sync", "true", "--overlap-param-gather", on},
    RecipeKey{"ub_tp_comm_overlap", "true", "--tp-comm-overlap", on},
    RecipeKey{"optimizer.optimizer", "", "--optimizer", ""},
    RecipeKey{"restore_from_path", "", "--pretrained-checkpoint", ""},
    RecipeKey{"fp8", "hybrid", "--fp8-format", "hybrid"},
    RecipeKey{"fp8", "e4m3", "--fp8-format", "e4m3"},
    RecipeKey{"fp8_hybrid", "true", "--fp8-format", "hybrid", "fp8"},
    RecipeKey{"fp8_e4m3", "true", "--fp8-format", "e4m3", "fp8"},
    RecipeKey{"fp8", "true", "--fp8-format", "hybrid"},
    RecipeKey{"peft._target_", "megatron.bridge.peft.lora", "--peft", "lora"},
    RecipeKey{"peft.dim", "", "--lora-rank", ""},
    RecipeKey{"peft.target_modules", "", "--lora-target-modules", ""},
    RecipeKey{"checkpoint.load", "", "", ""},
    RecipeKey{"model.name", "", "", ""},
    RecipeKey{"name", "", "", ""},
    RecipeKey{"config", "", "", ""},
};

// GPT-NeoX: Megatron-LM's words of 2021, DeepSpeed's for batches.
constexpr std::array neox_keys{
    RecipeKey{"pipe_parallel_size", "", "--pipeline-model-parallel-size", ""},
    RecipeKey{"model_parallel_size", "", "--tensor-model-parallel-size", ""},
    RecipeKey{"train_micro_batch_size_per_gpu", "", "--micro-batch-size", ""},
    RecipeKey{"train_batch_size", "", "--global-batch-size", ""},
    RecipeKey{"pos_emb", "rotary", "--position-embedding-type", "rope"},
    RecipeKey{"pos_emb", "learned", "--position-embedding-type", "learned_absolute"},
    RecipeKey{"pos_emb", "none", "--position-embedding-type", "none"},
    RecipeKey{"fp16.enabled", "true", "--fp16", on},
    RecipeKey{"fp16.fp16", "true", "--fp16", on},
    RecipeKey{"bf16.enabled", "true", "--bf16", on},
    RecipeKey{"precision", "bfloat16", "--bf16", on},
    RecipeKey{"precision", "fp16", "--fp16", on},
    RecipeKey{"no_weight_tying", "true", "--untie-embeddings-and-output-weights", on},
    RecipeKey{"norm", "rmsnorm", "--normalization", "RMSNorm"},
    RecipeKey{"activation", "swiglu", "--swiglu", on},
    RecipeKey{"intermediate_size", "", "--ffn-hidden-size", ""},
    RecipeKey{"checkpoint_activations", "true", "--checkpoint-activations", on},
    RecipeKey{"zero_optimization.stage", "1", "--use-distributed-optimizer", on},
    RecipeKey{"optimizer.type", "", "--optimizer", ""},
    RecipeKey{"enabled", "", "", ""},
    RecipeKey{"stage", "", "", ""},
    RecipeKey{"type", "", "", ""},
};

constexpr std::array nanotron_keys{
    RecipeKey{"parallelism.tp", "", "--tensor-model-parallel-size", ""},
    RecipeKey{"parallelism.pp", "", "--pipeline-model-parallel-size", ""},
    RecipeKey{"parallelism.expert_parallel_size", "", "--expert-model-parallel-size", ""},
    RecipeKey{"parallelism.tp_mode", "REDUCE_SCATTER", "--sequence-parallel", on},
    RecipeKey{"parallelism.tp_mode", "", "", ""},
    RecipeKey{"tokens.sequence_length", "", "--seq-length", ""},
    RecipeKey{"tokens.micro_batch_size", "", "--micro-batch-size", ""},
    RecipeKey{"tokens.batch_accumulation_per_replica", "", "", ""}, // read_recipe.cpp
    RecipeKey{"model.dtype", "bfloat16", "--bf16", on},
    RecipeKey{"model.dtype", "float16", "--fp16", on},
    RecipeKey{"optimizer.zero_stage", "1", "--use-distributed-optimizer", on},
    RecipeKey{"optimizer.accumulate_grad_in_fp32", "true", "--accumulate-allreduce-grads-in-fp32",
              on},
    RecipeKey{"parallelism.recompute_layer", "true", "--checkpoint-activations", on},
};

// axolotl, LLaMA-Factory and whatever else ends at Hugging Face's Trainer.
constexpr std::array trainer_keys{
    RecipeKey{"micro_batch_size", "", "--per-device-train-batch-size", ""},
    RecipeKey{"lora_target_linear", "true", "--lora-target-modules", "all-linear"},
    RecipeKey{"fsdp_version", "", "--fsdp", "full_shard"},
    RecipeKey{"fsdp_config.reshard_after_forward", "false", "--no-reshard-after-forward", on},
    RecipeKey{"fsdp_reshard_after_forward", "false", "--no-reshard-after-forward", on},
    RecipeKey{"fsdp_config.offload_params", "true", "--fsdp-offload", on},
    RecipeKey{"fsdp_offload_params", "true", "--fsdp-offload", on},
    RecipeKey{"activation_checkpointing", "true", "--gradient-checkpointing", on},
    RecipeKey{"enable_activation_checkpointing", "true", "--gradient-checkpointing", on},
    RecipeKey{"enable_activation_checkpointing", "false", "--gradient-checkpointing", off},
    RecipeKey{"fsdp_activation_checkpointing", "true", "--gradient-checkpointing", on},
    RecipeKey{"dist_config.name", "fsdp2", "--fsdp", "full_shard"},
    RecipeKey{"dist_config.config_file", "", "--deepspeed", ""},
    RecipeKey{"dist_config.cp_size", "", "--sequence-parallel-size", ""},
    RecipeKey{"peft_config.name", "", "--finetuning-type", ""},
    RecipeKey{"peft_config.r", "", "--lora-rank", ""},
    RecipeKey{"peft_config.target_modules", "", "--lora-target-modules", ""},
    RecipeKey{"name", "", "", ""},
    RecipeKey{"optimizer", "", "--optim", ""},
    RecipeKey{"template", "", "", ""},
    RecipeKey{"disable_gradient_checkpointing", "true", "--gradient-checkpointing", off},
    RecipeKey{"bfloat16", "true", "--bf16", on},
    RecipeKey{"float16", "true", "--fp16", on},
};

// LLaMA-Factory on Megatron-Core (mcore_adapter): Trainer's batches beside Megatron's layout.
constexpr std::array factory_core_keys{
    RecipeKey{"per_device_train_batch_size", "", "--micro-batch-size", ""},
    RecipeKey{"cutoff_len", "", "--seq-length", ""},
    RecipeKey{"virtual_pipeline_model_parallel_size", "", "--num-virtual-stages-per-pipeline-rank",
              ""},
    RecipeKey{"overlap_p2p_comm", "false", "--no-overlap-p2p-communication", on},
    RecipeKey{"overlap_p2p_comm", "", "", ""},
    RecipeKey{"fp8", "hybrid", "--fp8-format", "hybrid"},
    RecipeKey{"fp8", "e4m3", "--fp8-format", "e4m3"},
    RecipeKey{"mtp_num_layers", "0", "", ""},
    RecipeKey{"template", "", "", ""},
};

// Oumi: Trainer's words in sections of its own.
constexpr std::array oumi_keys{
    RecipeKey{"enable_gradient_checkpointing", "true", "--gradient-checkpointing", on},
    RecipeKey{"torch_dtype_str", "bfloat16", "--bf16", on},
    RecipeKey{"torch_dtype_str", "bf16", "--bf16", on},
    RecipeKey{"torch_dtype_str", "float16", "--fp16", on},
    RecipeKey{"torch_dtype_str", "float32", "--bf16", off},
    RecipeKey{"mixed_precision_dtype", "BF16", "--bf16", on},
    RecipeKey{"mixed_precision_dtype", "FP16", "--fp16", on},
    RecipeKey{"training.optimizer", "", "--optim", ""},
    RecipeKey{"training.compile", "true", "--torch-compile", on},
    RecipeKey{"peft.q_lora", "true", "--load-in-4bit", on},
    RecipeKey{"fsdp.enable_fsdp", "true", "--fsdp", "full_shard"},
    RecipeKey{"fsdp.sharding_strategy", "", "--fsdp", "", "enable_fsdp"},
    RecipeKey{"fsdp.cpu_offload", "true", "--fsdp-offload", on, "enable_fsdp"},
    RecipeKey{"data.train.pack", "true", "--packing", on},
    // Of rollouts and of what trains with rewards.
    RecipeKey{"tensor_parallel_size", "", "", ""},
    RecipeKey{"tensor_model_parallel_size", "", "", ""},
    RecipeKey{"train_batch_size", "", "", ""},
};

// torchtune; its model and its adapters are words of their own (read_recipe.cpp).
constexpr std::array torchtune_keys{
    RecipeKey{"batch_size", "", "--per-device-train-batch-size", ""},
    RecipeKey{"enable_activation_checkpointing", "true", "--gradient-checkpointing", on},
    RecipeKey{"dtype", "bf16", "--bf16", on},
    RecipeKey{"dtype", "fp16", "--fp16", on},
    RecipeKey{"compile", "true", "--torch-compile", on},
    RecipeKey{"fsdp_cpu_offload", "true", "--fsdp-offload", on},
    RecipeKey{"tensor_parallel_dim", "", "--tp-size", ""},
    RecipeKey{"dataset.packed", "true", "--packing", on},
    RecipeKey{"loss._component_", "torchtune.modules.loss.CEWithChunked", "--chunked-cross-entropy",
              on},
    RecipeKey{"loss._component_", "torchtune.modules.loss.LinearCrossEntropy",
              "--chunked-cross-entropy", on},
    RecipeKey{"loss._component_", "", "", ""},
    RecipeKey{"lora_attn_modules", "", "--lora-target-modules", ""},
    RecipeKey{"model._component_", "", "", ""},
    RecipeKey{"path", "", "", ""},
    RecipeKey{"model_type", "", "", ""},
};

// LLM Foundry's recipes for Composer.
constexpr std::array foundry_keys{
    RecipeKey{"precision", "amp_bf16", "--bf16", on},
    RecipeKey{"precision", "amp_fp16", "--fp16", on},
    RecipeKey{"precision", "amp_fp8", "--fp8", on},
    RecipeKey{"fsdp_config.sharding_strategy", "", "--fsdp", ""},
    RecipeKey{"fsdp_config.mixed_precision", "DEFAULT", "", ""},
    RecipeKey{"fsdp_config.mixed_precision", "", "--fsdp-mixed-precision", ""},
    RecipeKey{"fsdp_config.activation_checkpointing", "true", "--gradient-checkpointing", on},
    RecipeKey{"fsdp_config.verbose", "", "", ""},
    RecipeKey{"activation_checkpointing_reentrant", "", "", ""},
    RecipeKey{"optimizer.name", "", "--optim", ""},
    RecipeKey{"device_train_microbatch_size", "auto", "", ""},
    RecipeKey{"device_eval_batch_size", "", "", ""},
    // Of the model, which is read as a whole.
    RecipeKey{"model.name", "", "", ""},
    RecipeKey{"d_model", "", "", ""},
    RecipeKey{"n_heads", "", "", ""},
    RecipeKey{"n_layers", "", "", ""},
    RecipeKey{"kv_n_heads", "", "", ""},
    RecipeKey{"mlp_ratio", "", "", ""},
    RecipeKey{"expansion_ratio", "", "", ""},
    RecipeKey{"intermediate_size", "", "", ""},
    RecipeKey{"ffn_hidden_size", "", "", ""},
    RecipeKey{"vocab_size", "", "", ""},
    RecipeKey{"name", "", "", ""},
};

constexpr std::array core_unsaid{UnsaidArgument{"--bf16", "", {"--fp16"}}};

// LLaMA-Factory's parser: hparams of its version 0.9.
constexpr std::array factory_unsaid{
    UnsaidArgument{"--gradient-checkpointing", "", {"--disable-gradient-checkpointing"}},
    UnsaidArgument{"--bf16", "", {"--fp16"}}, // the format of the published weights
    UnsaidArgument{"--finetuning-type", "lora"},
    UnsaidArgument{"--lora-target", "all", {}, "--finetuning-type", "lora"},
    UnsaidArgument{"--cutoff-len", "2048"},
};

// And of its version 1: config/training_args.py.
constexpr std::array factory_v1_unsaid{
    UnsaidArgument{"--bf16", "", {"--fp16"}},
    UnsaidArgument{"--gradient-checkpointing"},
    UnsaidArgument{"--per-device-train-batch-size", "1"},
    UnsaidArgument{"--cutoff-len", "2048"},
};

// Trainer's batch and LLaMA-Factory's length.
constexpr std::array factory_core_unsaid{
    UnsaidArgument{"--micro-batch-size", "8"},
    UnsaidArgument{"--seq-length", "2048"},
};

// Settings that LLaMA-Factory's parser takes where it trains on Megatron-Core alone.
constexpr RecipeDialect factory_on_core(std::string_view mark)
{
    return {"LLaMA-Factory on Megatron-Core",
            mark,
            "stage",
            RecipeWords::megatron,
            factory_core_keys,
            factory_core_unsaid};
}

// axolotl's schema. Without an adapter all parameters are trained, whatever rank stands there.
constexpr std::array axolotl_unsaid{
    UnsaidArgument{"--bf16", "", {"--fp16"}},
    UnsaidArgument{"--per-device-train-batch-size", "1"},
    UnsaidArgument{"--sequence-len", "512"},
    UnsaidArgument{"--adapter", "full"},
};

constexpr std::array oumi_unsaid{
    UnsaidArgument{"--bf16", "", {"--fp16"}},         // the format of the published weights
    UnsaidArgument{"--peft", "full", {"--use-peft"}}, // whatever rank its section has
};

constexpr std::array dialects{
    RecipeDialect{"a test of Megatron-LM", "MODEL_ARGS", "", RecipeWords::megatron, {}, {}},
    RecipeDialect{"Primus", "modules.pre_trainer", "", RecipeWords::megatron, core_keys,
                  core_unsaid},
    RecipeDialect{"Primus", "modules.post_trainer", "", RecipeWords::megatron, core_keys,
                  core_unsaid},
    RecipeDialect{"NeMo",
                  "trainer",
                  "model.tensor_model_parallel_size",
                  RecipeWords::megatron,
                  core_keys,
                  {}},
    RecipeDialect{"Megatron-Bridge", "model.tensor_model_parallel_size", "train",
                  RecipeWords::megatron, core_keys, core_unsaid},
    RecipeDialect{"Megatron-Bridge", "model", "train.micro_batch_size", RecipeWords::megatron,
                  core_keys, core_unsaid},
    RecipeDialect{"nanotron", "parallelism.tp", "tokens", RecipeWords::megatron, nanotron_keys, {}},
    RecipeDialect{"GPT-NeoX", "pipe_parallel_size", "", RecipeWords::megatron, neox_keys, {}},
    RecipeDialect{"GPT-NeoX", "model_parallel_size", "", RecipeWords::megatron, neox_keys, {}},
    factory_on_core("tensor_model_parallel_size"),
    factory_on_core("pipeline_model_parallel_size"),
    factory_on_core("expert_model_parallel_size"),
    factory_on_core("use_distributed_optimizer"),
    RecipeDialect{"LLaMA-Factory", "model_name_or_path", "stage", RecipeWords::trainer,
                  trainer_keys, factory_unsaid},
    RecipeDialect{"LLaMA-Factory", "model_class", "model", RecipeWords::trainer, trainer_keys,
                  factory_v1_unsaid},
    RecipeDialect{"Oumi", "model.model_name", "training", RecipeWords::trainer, oumi_keys,
                  oumi_unsaid, nullptr, deepspeed_of_oumi},
    RecipeDialect{"torchtune",
                  "model._component_",
                  "optimizer._component_",
                  RecipeWords::trainer,
                  torchtune_keys,
                  {},
                  read_torchtune},
    RecipeDialect{"LLM Foundry",
                  "global_train_batch_size",
                  "max_seq_len",
                  RecipeWords::trainer,
                  foundry_keys,
                  {},
                  read_foundry},
    RecipeDialect{"LLM Foundry",
                  "parameters.global_train_batch_size",
                  "parameters.max_seq_len",
                  RecipeWords::trainer,
                  foundry_keys,
                  {},
                  read_foundry},
    RecipeDialect{"axolotl", "base_model", "", RecipeWords::trainer, trainer_keys, axolotl_unsaid},
    RecipeDialect{
        "Hugging Face's Trainer", "model_name_or_path", "", RecipeWords::trainer, trainer_keys, {}},
    RecipeDialect{"Hugging Face's Trainer",
                  "per_device_train_batch_size",
                  "",
                  RecipeWords::trainer,
                  trainer_keys,
                  {}},
    RecipeDialect{"Megatron-LM", "hidden_size", "num_layers", RecipeWords::megatron, core_keys, {}},
    RecipeDialect{
        "FlagScale", "system.tensor_model_parallel_size", "", RecipeWords::megatron, core_keys, {}},
};

// GPT-NeoX writes its names with dashes too.
bool same_name(std::string_view a, std::string_view b)
{
    const auto plain = [](char c) { return c == '-' ? '_' : c; };
    return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                      [&](char x, char y) { return plain(x) == plain(y); });
}

} // namespace

const Json* setting_at(const Json& root, std::string_view dotted)
{
    const Json* node = &root;
    while (node != nullptr && !dotted.empty()) {
        const std::size_t dot = std::min(dotted.find('.'), dotted.size());
        const std::string_view part = dotted.substr(0, dot);
        dotted = dotted.substr(std::min(dot + 1, dotted.size()));
        if (!node->is_object())
            return nullptr;
        const Json* found = nullptr;
        for (const Json::Member& member : node->members())
            if (same_name(member.first, part))
                found = &member.second;
        node = found;
    }
    return node;
}

const RecipeDialect* dialect_of(const Json& root)
{
    const auto has = [&](std::string_view mark) {
        const Json* const found = mark.empty() ? nullptr : setting_at(root, mark);
        return mark.empty() || (found != nullptr && !found->is_null());
    };
    const auto* const found =
        std::find_if(dialects.begin(), dialects.end(), [&](const RecipeDialect& one) {
            return has(one.mark) && has(one.other_mark);
        });
    return found == dialects.end() ? nullptr : found;
}

const RecipeDialect* dialect_named(std::string_view name)
{
    const auto* const found =
        std::find_if(dialects.begin(), dialects.end(),
                     [&](const RecipeDialect& one) { return one.name == name; });
    return found == dialects.end() ? nullptr : found;
}

const RecipeKey* key_of(const RecipeDialect& dialect, std::string_view name, std::string_view value)
{
    const std::string_view last = name.substr(name.rfind('.') + 1);
    const auto ends_so = [&](std::string_view key) {
        if (key.find('.') == std::string_view::npos)
            return same_name(key, last);
        return name.size() >= key.size() && same_name(name.substr(name.size() - key.size()), key);
    };
    for (const RecipeKey& one : dialect.keys)
        if (ends_so(one.key) && (one.when.empty() || value.starts_with(one.when)))
            return &one;
    return nullptr;
}

} // namespace trainyard
