#include "tests/unit/study/jobs/importing.h"

#include <fmt/core.h>

using namespace trainyard;
using namespace trainyard::testing;

TEST_CASE("a recipe of LLaMA-Factory names model, batch and adapters")
{
    const ImportedJob job = as_recognised(R"(model_name_or_path: meta-llama/Meta-Llama-3-8B-Instruct
stage: sft
finetuning_type: lora
lora_rank: 16
lora_target: all
cutoff_len: 2048
per_device_train_batch_size: 1
gradient_accumulation_steps: 4
bf16: true
)");
    CHECK(job.scenario.scenario.model.path == "llama-3.1-8b");
    CHECK(job.job.training.sequence_length == 2048);
    CHECK(job.job.training.global_batch == 32); // 1 x 4 on 8 GPUs
    REQUIRE(job.job.training.lora.has_value());
    CHECK(job.job.training.lora->rank == 16);
    CHECK(job.job.training.lora->targets.size() == 7);
}

TEST_CASE("a recipe of axolotl has its own words for batch and length")
{
    const ImportedJob job = as_recognised(R"(base_model: NousResearch/Llama-2-7b-hf
sequence_len: 4096
micro_batch_size: 2
gradient_accumulation_steps: 4
optimizer: adamw_bnb_8bit
bf16: auto
gradient_checkpointing: true
)");
    CHECK(job.scenario.scenario.model.path == "llama-2-7b");
    CHECK(job.job.training.micro_batch == 2);
    CHECK(job.job.training.global_batch == 64);
    CHECK(job.job.training.precision == Precision::bf16);
    CHECK(job.job.training.recompute == Recompute::full);
    CHECK(says(job.notes.assumed, "of 8 bit"));
}

TEST_CASE("nanotron states its ranks: the cluster has as many GPUs")
{
    const ImportedJob job = as_recognised(R"(model:
  dtype: bfloat16
  model_config:
    hidden_size: 2048
    intermediate_size: 5632
    num_attention_heads: 32
    num_hidden_layers: 22
    num_key_value_heads: 4
    vocab_size: 32000
parallelism:
  dp: 8
  pp: 2
  tp: 4
  tp_mode: REDUCE_SCATTER
tokens:
  batch_accumulation_per_replica: 4
  micro_batch_size: 2
  sequence_length: 2048
)");
    CHECK(job.job.world() == 64);
    CHECK(job.job.dp() == 8);
    CHECK(job.job.training.global_batch == 64); // 8 x 4 x 2
    CHECK(model_of(job).layers == 22);
    CHECK(model_of(job).kv_heads == 4);
    CHECK_FALSE(says(job.notes.ignored, "hidden-size"));
    CHECK_FALSE(says(job.notes.ignored, "batch-accumulation"));
}

TEST_CASE("nanotron's layers have its window, but for those with global attention, and its experts")
{
    const auto with = [](const char* more) {
        return as_recognised(fmt::format(R"(model:
  dtype: bfloat16
  model_config:
    hidden_size: 2048
    intermediate_size: 5632
    num_attention_heads: 32
    num_hidden_layers: 6
    num_key_value_heads: 4
    vocab_size: 32000
{}parallelism:
  dp: 4
  pp: 1
  tp: 2
tokens:
  micro_batch_size: 2
  sequence_length: 8192
)",
                                         more));
    };
    const ImportedJob none = with("");
    CHECK(!has_window(model_of(none), 0));
    CHECK(none.scenario.scenario.software.attention == AttentionKernel::flash2);
    CHECK(says(none.notes.assumed, "nanotron's default"));
    const ImportedJob all = with("    sliding_window_size: 1024\n    _attn_implementation: sdpa\n");
    CHECK(has_window(model_of(all), 0));
    CHECK(has_window(model_of(all), 5));
    CHECK(model_of(all).keys_per_query(8192) == 1024);
    CHECK(all.scenario.scenario.software.attention == AttentionKernel::sdpa);
    const ImportedJob some =
        with("    sliding_window_size: 1024\n    global_attn_layers: [0, 5]\n");
    CHECK(!has_window(model_of(some), 0));
    CHECK(has_window(model_of(some), 1));
    CHECK(!has_window(model_of(some), 5));
    const ImportedJob experts = with("    moe_config:\n      num_experts: 16\n      top_k: 4\n");
    REQUIRE(model_of(experts).moe);
    CHECK(model_of(experts).moe->experts == 16);
    CHECK(model_of(experts).moe->experts_per_token == 4);
}

TEST_CASE("NeMo's and Megatron-Bridge's words become Megatron-LM's")
{
    const ImportedJob nemo = as_recognised(R"(trainer:
  devices: 8
  num_nodes: 4
  precision: bf16
model:
  micro_batch_size: 1
  global_batch_size: 128
  tensor_model_parallel_size: 4
  pipeline_model_parallel_size: 2
  encoder_seq_length: 4096
  max_position_embeddings: ${.encoder_seq_length}
  num_layers: 32
  hidden_size: 4096
  ffn_hidden_size: 11008
  num_attention_heads: 32
  activation: fast-swiglu
  normalization: rmsnorm
  bias: false
  position_embedding_type: rope
  hidden_dropout: 0.0
  attention_dropout: 0.0
)");
    CHECK(nemo.job.world() == 32);
    CHECK(nemo.job.strategy.pp == 2);
    CHECK(model_of(nemo).gated_mlp);
    CHECK(!model_of(nemo).linear_bias);
    CHECK(nemo.job.training.precision == Precision::bf16);
    const ImportedJob bridge = as_recognised(R"(train:
  global_batch_size: 64
  micro_batch_size: 1
model:
  seq_length: 8192
  tensor_model_parallel_size: 4
  expert_model_parallel_size: 4
  expert_tensor_parallel_size: 1
  context_parallel_size: 4
  mtp_num_layers: null
checkpoint:
  pretrained_checkpoint: /ckpt/Qwen3-30B-A3B
)");
    CHECK(bridge.scenario.scenario.model.path == "qwen3-30b-a3b");
    CHECK(bridge.job.world() == 16); // tp 4 x cp 4
    CHECK(bridge.job.strategy.ep == 4);
}

TEST_CASE("Primus's references become their defaults, or what --define says")
{
    const std::string text = R"(modules:
  pre_trainer:
    framework: megatron
    model: qwen2.5_7B.yaml
    overrides:
      micro_batch_size: 2
      global_batch_size: 64
      seq_length: ${PRIMUS_SEQ:2048}
      tensor_model_parallel_size: 2
)";
    CHECK(as_recognised(text).job.training.sequence_length == 2048);
    JobImportOptions options = on_h100(1);
    options.defined["PRIMUS_SEQ"] = "8192";
    CHECK(imported(JobKind::megatron, text, options).job.training.sequence_length == 8192);
    CHECK(imported(JobKind::megatron, text, options).scenario.scenario.model.path == "qwen2.5-7b");
}

TEST_CASE(
    "Primus may start a model of latent attention without it, and DeepEP where its own kernels are")
{
    const auto with = [](const char* more) {
        return as_recognised(fmt::format(R"(modules:
  pre_trainer:
    framework: megatron
    model: deepseek_v2.yaml
    overrides:
      micro_batch_size: 1
      global_batch_size: 256
      seq_length: 4096
      pipeline_model_parallel_size: 4
      expert_model_parallel_size: 8
      moe_token_dispatcher_type: alltoall
{})",
                                         more));
    };
    const ImportedJob latent = with("      multi_latent_attention: true\n");
    CHECK(model_of(latent).latent.has_value());
    CHECK(latent.scenario.scenario.model.path == "deepseek-v2");
    CHECK(latent.job.strategy.experts.dispatcher == Dispatcher::all_to_all);
    const ImportedJob ordinary = with("      multi_latent_attention: false\n");
    CHECK_FALSE(model_of(ordinary).latent);
    CHECK(model_of(ordinary).heads == 128);
    CHECK(model_of(ordinary).kv_heads == 128);
    CHECK(model_of(ordinary).head_dim == 128);
    const ImportedJob narrow = with("      multi_latent_attention: false\n      kv_channels: 64\n");
    CHECK(model_of(narrow).head_dim == 64);
    const ImportedJob deep =
        with("      enable_primus_turbo: true\n      use_turbo_deepep: true\n");
    CHECK(deep.job.strategy.experts.dispatcher == Dispatcher::deepep);
    const ImportedJob without =
        with("      enable_primus_turbo: false\n      use_turbo_deepep: true\n");
    CHECK(without.job.strategy.experts.dispatcher == Dispatcher::all_to_all);
}

TEST_CASE("GPT-NeoX writes Megatron-LM's sizes and DeepSpeed's batches")
{
    const ImportedJob job = as_recognised(R"({"pipe-parallel-size": 2, "model-parallel-size": 2,
        "num-layers": 24, "hidden-size": 2048, "num-attention-heads": 16, "seq-length": 2048,
        "max-position-embeddings": 2048, "pos-emb": "rotary", "train_micro_batch_size_per_gpu": 4,
        "zero_optimization": {"stage": 1}, "fp16": {"enabled": true}})");
    CHECK(job.job.strategy.tp == 2);
    CHECK(job.job.strategy.pp == 2);
    CHECK(job.job.strategy.zero == 1);
    CHECK(job.job.training.micro_batch == 4);
    CHECK(job.job.training.precision == Precision::fp16);
    CHECK(model_of(job).position == PositionKind::rotary);
}

TEST_CASE("GPT-NeoX's mapping in braces has comments, and passes make its batch")
{
    const ImportedJob job = as_recognised(R"(# A model of 24 layers
{
   # sizes
   "pipe-parallel-size": 1,
   "model-parallel-size": 2, # of a node
   "num-layers": 24, "hidden-size": 2048, "num-attention-heads": 16, "seq-length": 2048,
   "max-position-embeddings": 2048, "pos-emb": "rotary", "no-weight-tying": True,
   "train_micro_batch_size_per_gpu": 4,
   "gradient_accumulation_steps": 32,
   "fp16": {"enabled": True},
})");
    CHECK(job.job.strategy.tp == 2);
    CHECK(job.job.training.micro_batch == 4);
    CHECK(job.job.training.global_batch == 4 * 32 * job.job.dp());
    CHECK(job.job.training.precision == Precision::fp16);
    CHECK_FALSE(says(job.notes.ignored, "accumulation"));
}

TEST_CASE("NeMo's kind of fp8 counts where fp8 is on, and its optimizer is distributed")
{
    const auto with = [](const char* fp8) {
        return as_recognised(fmt::format(R"(trainer:
  devices: 8
  num_nodes: 1
  precision: bf16
model:
  micro_batch_size: 1
  global_batch_size: 64
  tensor_model_parallel_size: 2
  pipeline_model_parallel_size: 1
  encoder_seq_length: 2048
  max_position_embeddings: 2048
  num_layers: 24
  hidden_size: 2048
  num_attention_heads: 16
  sequence_parallel: True
  ub_tp_comm_overlap: True
  fp8: {}
  fp8_e4m3: False
  fp8_hybrid: True
  optim:
    name: distributed_fused_adam
    overlap_grad_sync: True
    overlap_param_sync: True
)",
                                         fp8));
    };
    const ImportedJob off = with("False");
    CHECK(off.job.training.precision == Precision::bf16);
    CHECK(off.job.strategy.zero == 1);
    CHECK(off.job.strategy.overlap.dp == true);
    CHECK(off.job.strategy.overlap.tp == true);
    CHECK(with("True").job.training.precision == Precision::fp8);
}

TEST_CASE("attention and recompute of a Trainer are as its recipe or its framework says")
{
    const auto with = [](const std::string& framework, const std::string& more) {
        return as_recognised(framework + "bf16: true\nper_device_train_batch_size: 1\n" + more);
    };
    const std::string factory = "model_name_or_path: meta-llama/Meta-Llama-3-8B\nstage: sft\n";
    const std::string axolotl = "base_model: NousResearch/Llama-2-7b-hf\nsequence_len: 4096\n";
    const ImportedJob usual = with(factory, "");
    CHECK(usual.job.training.recompute == Recompute::full);
    CHECK(says(usual.notes.assumed, "LLaMA-Factory's default"));
    CHECK(with(factory, "disable_gradient_checkpointing: true\n").job.training.recompute ==
          Recompute::none);
    CHECK(with(axolotl, "").job.training.recompute == Recompute::none);
    const auto attention = [&](const std::string& framework, const std::string& more) {
        return with(framework, more).scenario.scenario.software.attention;
    };
    CHECK(attention(axolotl, "flash_attention: true\n") == AttentionKernel::flash2);
    CHECK(attention(axolotl, "flash_attention: false\n") == AttentionKernel::sdpa);
    CHECK(attention(factory, "") == AttentionKernel::sdpa);
    CHECK(says(usual.notes.assumed, "the default of transformers since 4.36"));
    CHECK(attention("model_name_or_path: google/t5-11b\n", "") == std::nullopt);
    CHECK(attention(axolotl, "attn_implementation: eager\n") == AttentionKernel::unfused);
    CHECK(attention(axolotl, "attn_implementation: flash_attention_2\n") ==
          AttentionKernel::flash2);
    CHECK(attention(factory, "flash_attn: fa2\n") == AttentionKernel::flash2);
    CHECK(attention(factory, "flash_attn: sdpa\n") == AttentionKernel::sdpa);
}

TEST_CASE("a mapping that is no recipe is refused with those that are")
{
    CHECK(!recognise_job("name: x\nother: 3\n"));
    CHECK(!recognise_job("card:\n  command: torchrun --nproc_per_node=8 compare.py\n"));
    CHECK(recognise_job("apiVersion: v1\nargs: torchrun train.py\n") == JobKind::torchrun);
    CHECK(refusal_of(JobKind::megatron, "name: x\nother: 3\n", on_h100(1)).message ==
          "is no recipe of a job known here");
    CHECK(!refusal_of(JobKind::megatron, "- 1\n- 2\n", on_h100(1)).message.empty());
    CHECK(refusal_of(JobKind::megatron,
                     "model_parallel_size: $NP\nnum_layers: 2\nhidden_size: 8\n"
                     "num_attention_heads: 2\nseq_length: 8\n",
                     on_h100(1))
              .hint.starts_with("--define NP=VALUE"));
}

TEST_CASE("what stands deeper in a tree says nothing over what stands further out")
{
    const ImportedJob job = as_recognised(R"({"pipe-parallel-size": 1, "model-parallel-size": 1,
        "num-layers": 2, "hidden-size": 256, "num-attention-heads": 4, "seq-length": 128,
        "max-position-embeddings": 128, "train_micro_batch_size_per_gpu": 2,
        "autotuning": {"train_micro_batch_size_per_gpu": 64}})");
    CHECK(job.job.training.micro_batch == 2);
}

TEST_CASE("settings of a recipe on the command line count as arguments")
{
    const ImportedJob job =
        as_recognised("torchrun --nproc_per_node 8 run_recipe.py "
                      "checkpoint.pretrained_checkpoint=/models/Qwen3-8B model.seq_length=4096 "
                      "train.global_batch_size=16 train.micro_batch_size=2 "
                      "model.tensor_model_parallel_size=2\n");
    CHECK(job.scenario.scenario.model.path == "qwen3-8b");
    CHECK(job.job.strategy.tp == 2);
    CHECK(job.job.training.micro_batch == 2);
    CHECK(job.job.training.sequence_length == 4096);
}

TEST_CASE("a Trainer's dump holds DeepSpeed's configuration, and ranks of adapters it has not")
{
    const std::string dump = R"({"per_device_train_batch_size": 2, "gradient_accumulation_steps": 4,
        "bf16": true, "max_length": 4096, "tuner_type": "full", "lora_rank": 8,
        "deepspeed": {"bf16": {"enabled": "auto"}, "train_batch_size": "auto",
                      "zero_optimization": {"stage": 3, "offload_optimizer": {"device": "cpu"}}}})";
    const ImportedJob job =
        imported(*recognise_job(dump), dump, with_model(on_h100(1), "llama-2-7b"));
    CHECK(job.job.strategy.zero == 3);
    CHECK(job.job.strategy.offload.optimizer == OffloadTarget::cpu);
    CHECK(job.job.training.global_batch == 64);
    CHECK(job.job.training.sequence_length == 4096);
    CHECK(!job.job.training.lora);
}

TEST_CASE("axolotl's FSDP 2 and LLaMA-Factory's newer form shard as they say")
{
    const ImportedJob axolotl = as_recognised(
        "base_model: meta-llama/Llama-3.1-8B\ndp_shard_size: 2\ndp_replicate_size: 2\n"
        "tensor_parallel_size: 2\nfsdp_version: 2\nfsdp_config:\n  offload_params: true\n"
        "  reshard_after_forward: false\nsequence_len: 512\nmicro_batch_size: 1\nbf16: true\n");
    CHECK(axolotl.job.strategy.zero == 3);
    CHECK(axolotl.job.strategy.tp == 2);
    CHECK(axolotl.job.dp() == 4);
    CHECK(axolotl.job.strategy.shard_group == 2);
    CHECK(axolotl.job.strategy.reshard_after_forward == false);
    CHECK(axolotl.job.strategy.offload.parameters == OffloadTarget::cpu);
    const std::string factory =
        "model: Qwen/Qwen3-0.6B\nmodel_class: llm\npeft_config:\n  name: lora\n  r: 16\n"
        "  target_modules: all\ndist_config:\n  name: fsdp2\nmicro_batch_size: 1\n"
        "cutoff_len: 2048\n";
    const ImportedJob job = as_recognised(factory);
    CHECK(job.job.strategy.zero == 3);
    CHECK(job.job.training.precision == Precision::bf16);
    CHECK(job.job.training.lora->rank == 16);
    CHECK(job.job.training.lora->targets.size() == 7);
    CHECK(as_recognised(factory + "bf16: false\n").job.training.precision == Precision::fp32);
}

TEST_CASE("adapters are named by how the names of modules end, or by a pattern of them")
{
    using enum AdapterTarget;
    const auto targets = [](const std::string& modules) {
        return as_recognised("base_model: meta-llama/Llama-3.1-8B\nadapter: lora\nlora_r: 8\n"
                             "sequence_len: 512\nmicro_batch_size: 1\nbf16: true\n"
                             "lora_target_modules: " +
                             modules + "\n");
    };
    CHECK(targets("['self_attn.q_proj', 'mlp.down_proj']").job.training.lora->targets ==
          std::vector{q_proj, down_proj});
    CHECK(
        targets("'model.layers.[0-9]+.(mlp|self_attn).(up|q|k)_proj'").job.training.lora->targets ==
        std::vector{up_proj, q_proj, k_proj});
    const ImportedJob part = targets("[q_proj, in_proj]");
    CHECK(part.job.training.lora->targets == std::vector{q_proj});
    CHECK(part.notes.flagged.size() == 1);
}

TEST_CASE("a reference within a name is filled in, and a mark without a value marks nothing")
{
    const ImportedJob job = as_recognised(
        "modules:\n  pre_trainer:\n    framework: megatron\n    model: ${M:qwen2.5_7B}.yaml\n"
        "    overrides:\n      micro_batch_size: 1\n      seq_length: ${S:2048}\n");
    CHECK(job.scenario.scenario.model.path == "qwen2.5-7b");
    CHECK(job.job.training.sequence_length == 2048);
    CHECK(!recognise_job("ENV_VARS:\n  A: 1\nMODEL_ARGS:\nTEST_TYPE: regular\n"));
}
