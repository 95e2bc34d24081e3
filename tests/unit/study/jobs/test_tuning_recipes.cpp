#include "sim/study/jobs/job_verdict.h"
#include "tests/unit/study/jobs/importing.h"

using namespace trainyard;
using namespace trainyard::testing;

TEST_CASE("what a recipe of axolotl leaves out has axolotl's defaults")
{
    const ImportedJob job = as_recognised("base_model: NousResearch/Llama-2-7b-hf\n"
                                          "lora_r: 32\n" // without an adapter of no effect
                                          "optimizer: adamw_torch_fused\n");
    CHECK(job.job.training.precision == Precision::bf16);
    CHECK(job.job.training.micro_batch == 1);
    CHECK(job.job.training.sequence_length == 512);
    CHECK_FALSE(job.job.training.lora.has_value());
    CHECK(says(job.notes.assumed, "--sequence-len 512"));
    CHECK(as_recognised("base_model: NousResearch/Llama-2-7b-hf\nbf16: false\nfp16: true\n")
              .job.training.precision == Precision::fp16);
}

TEST_CASE("LLaMA-Factory trains adapters on all matrices where nothing says otherwise")
{
    const std::string plain = "model_name_or_path: Qwen/Qwen2.5-7B-Instruct\nstage: sft\n"
                              "per_device_train_batch_size: 2\n";
    const ImportedJob job = as_recognised(plain);
    REQUIRE(job.job.training.lora.has_value());
    CHECK(job.job.training.lora->targets.size() == 7);
    CHECK(job.job.training.precision == Precision::bf16);
    CHECK(job.job.training.recompute == Recompute::full);
    CHECK(job.job.training.sequence_length == 2048);
    CHECK_FALSE(as_recognised(plain + "finetuning_type: full\n").job.training.lora.has_value());
    // The same on a command line.
    const ImportedJob launched =
        as_recognised("llamafactory-cli train --model_name_or_path Qwen/Qwen2.5-7B-Instruct "
                      "--stage sft --per_device_train_batch_size 2\n");
    CHECK(launched.job.training == job.job.training);
}

TEST_CASE("LLaMA-Factory with Megatron's settings trains on Megatron-Core")
{
    const std::string plain = "model_name_or_path: Qwen/Qwen3-30B-A3B\nstage: sft\n"
                              "finetuning_type: full\nbf16: true\ncutoff_len: 4096\n"
                              "per_device_train_batch_size: 1\ngradient_accumulation_steps: 8\n";
    const ImportedJob job = as_recognised(plain + "pipeline_model_parallel_size: 4\n"
                                                  "expert_model_parallel_size: 2\n"
                                                  "use_distributed_optimizer: true\n"
                                                  "overlap_param_gather: true\n"
                                                  "overlap_grad_reduce: true\n"
                                                  "moe_token_dispatcher_type: alltoall\n"
                                                  "recompute_granularity: full\n");
    CHECK(job.scenario.scenario.software.framework == "megatron-core");
    CHECK(job.job.strategy.pp == 4);
    CHECK(job.job.strategy.ep == 2);
    CHECK(job.job.strategy.zero == 1);
    CHECK(job.job.strategy.overlap.dp == true);
    CHECK(job.job.strategy.sharding.overlap_param_gather == true);
    CHECK(job.job.strategy.experts.dispatcher == Dispatcher::all_to_all);
    CHECK(job.job.training.recompute == Recompute::full);
    CHECK(job.job.training.sequence_length == 4096);
    CHECK(job.job.micro_batches() == 8);
    CHECK_FALSE(job.job.training.lora.has_value());
    CHECK(as_recognised(plain + "use_distributed_optimizer: true\n").job.strategy.zero == 1);
    CHECK(says(as_recognised("model_name_or_path: Qwen/Qwen2.5-7B\nstage: dpo\n"
                             "tensor_model_parallel_size: 2\n")
                   .notes.flagged,
               "--stage dpo"));
}

TEST_CASE("preferences and what else a step would need more passes for are flagged")
{
    const ImportedJob job = as_recognised("model_name_or_path: Qwen/Qwen2.5-7B-Instruct\n"
                                          "stage: dpo\nuse_galore: true\n");
    CHECK(says(job.notes.flagged, "--stage dpo"));
    CHECK(says(job.notes.flagged, "--use-galore"));
    const ImportedJob text = as_recognised("model_name_or_path: Qwen/Qwen2.5-7B-Instruct\n"
                                           "stage: pt\n");
    CHECK_FALSE(says(text.notes.flagged, "--stage"));
}

TEST_CASE("training in bf16 alone takes less than is modelled, which is flagged")
{
    const std::string plain = "model_name_or_path: Qwen/Qwen2.5-7B-Instruct\nstage: sft\n"
                              "finetuning_type: full\n";
    const ImportedJob job = as_recognised(plain + "pure_bf16: true\nmixture_of_depths: convert\n");
    CHECK(job.job.training.precision == Precision::bf16);
    CHECK(says(job.notes.understood, "line 4: --pure-bf16 -> training.precision bf16"));
    CHECK(says(job.notes.flagged, "line 4: --pure-bf16: parameters and states"));
    CHECK(says(job.notes.flagged, "line 5: --mixture-of-depths convert: not modelled"));
    CHECK_FALSE(says(as_recognised(plain + "bf16: true\n").notes.flagged, "bf16"));
}

TEST_CASE("workers of Ray are the GPUs of LLaMA-Factory")
{
    const auto job = [](const std::string& workers) {
        return as_recognised("model_name_or_path: Qwen/Qwen2.5-7B-Instruct\nstage: sft\n"
                             "per_device_train_batch_size: 1\nray_num_workers: " +
                             workers + "\n");
    };
    CHECK(job("4").job.world() == 4);
    CHECK(job("16").job.world() == 16);
    CHECK(job("16").job.training.global_batch == 16);
    CHECK(says(job("4").notes.understood, "line 4: --ray-num-workers 4 -> 4 GPUs"));
}

TEST_CASE("a recipe that generates or exports weights is no job")
{
    const std::string model = "model_name_or_path: Qwen/Qwen2.5-7B-Instruct\n";
    CHECK(why_no_job(model + "infer_backend: vllm\n").has_value());
    CHECK(why_no_job(model + "export_dir: out\n").has_value());
    CHECK(why_no_job(model + "stage: sft\ndo_predict: true\n").has_value());
    CHECK_FALSE(why_no_job(model + "do_train: true\ndo_predict: true\n").has_value());
}

TEST_CASE("Oumi's sections say what Trainer's arguments do")
{
    const ImportedJob job = as_recognised(R"(model:
  model_name: meta-llama/Llama-3.1-8B-Instruct
  model_max_length: 4096
  torch_dtype_str: bfloat16
training:
  per_device_train_batch_size: 2
  gradient_accumulation_steps: 4
  enable_gradient_checkpointing: True
  use_peft: True
  optimizer: adamw_torch_fused
peft:
  lora_r: 16
  lora_target_modules: [q_proj, k_proj, v_proj]
fsdp:
  enable_fsdp: True
  sharding_strategy: SHARD_GRAD_OP
)");
    const Training& training = job.job.training;
    CHECK(job.scenario.scenario.model.path == "llama-3.1-8b");
    CHECK(training.sequence_length == 4096);
    CHECK(training.micro_batch == 2);
    CHECK(training.global_batch == 64); // 2 x 4 on 8 GPUs
    CHECK(training.recompute == Recompute::full);
    REQUIRE(training.lora.has_value());
    CHECK(training.lora->rank == 16);
    CHECK(training.lora->targets.size() == 3);
    CHECK(job.job.strategy.zero == 3);
    CHECK(job.job.strategy.reshard_after_forward == false);

    const ImportedJob plain = as_recognised(R"(model:
  model_name: meta-llama/Llama-3.1-8B-Instruct
training:
  per_device_train_batch_size: 1
peft:
  lora_r: 8
fsdp:
  enable_fsdp: False
  sharding_strategy: FULL_SHARD
deepspeed:
  enable_deepspeed: True
  zero_stage: ZERO_2
  offload_optimizer:
    device: CPU
)");
    CHECK_FALSE(plain.job.training.lora.has_value()); // use_peft is not said
    CHECK(plain.job.strategy.zero == 2);
    CHECK(plain.job.strategy.offload.optimizer == OffloadTarget::cpu);
}

TEST_CASE("a recipe of torchtune names the function that makes its model")
{
    const std::string recipe = R"(model:
  _component_: torchtune.models.llama3_1.qlora_llama3_1_8b
  lora_attn_modules: [q_proj, v_proj, output_proj]
  apply_lora_to_mlp: True
  lora_rank: 32
tokenizer:
  _component_: torchtune.models.llama3.llama3_tokenizer
  max_seq_len: 1024
batch_size: 4
gradient_accumulation_steps: 2
optimizer:
  _component_: torch.optim.AdamW
enable_activation_checkpointing: True
dtype: bf16
)";
    const ImportedJob job = as_recognised(recipe);
    const Training& training = job.job.training;
    CHECK(job.scenario.scenario.model.path == "llama-3.1-8b");
    CHECK(training.micro_batch == 4);
    CHECK(training.global_batch == 64);
    CHECK(training.sequence_length == 1024);
    CHECK(training.precision == Precision::bf16);
    REQUIRE(training.lora.has_value());
    CHECK(training.lora->rank == 32);
    CHECK(training.lora->targets.size() == 6); // q, v, o and the three of the MLP
    CHECK(job.job.strategy.zero == 3);
    CHECK(says(job.notes.flagged, "fewer bits"));

    JobImportOptions options = on_h100(1);
    options.cluster = {};
    options.cluster.gpu = "h100";
    StageMemos memos;
    const Checked<ImportedJob> alone =
        import_job(JobKind::torchrun, recipe, "8B_qlora_single_device.yaml", options, memos);
    REQUIRE(alone);
    CHECK(alone->job.world() == 1);
    CHECK(alone->job.strategy.zero == 0);
}

TEST_CASE("a task of SkyPilot starts what it runs, on the nodes and GPUs it asks for")
{
    const std::string task = R"(name: tune
num_nodes: 2
resources:
  accelerators: "H100:4"
envs:
  MODEL: Qwen/Qwen2.5-7B-Instruct
run: |
  pip list
  torchrun --nnodes $SKYPILOT_NUM_NODES --nproc_per_node $SKYPILOT_NUM_GPUS_PER_NODE train.py \
    --model_name_or_path $MODEL --bf16 --per_device_train_batch_size 2
)";
    const ImportedJob job = as_recognised(task);
    CHECK(job.scenario.scenario.model.path == "qwen2.5-7b");
    CHECK(job.job.world() == 8);
    CHECK(job.job.training.global_batch == 16);
    CHECK(says(job.notes.understood, "line 10: --per-device-train-batch-size 2"));
    // What only installs is none.
    CHECK_FALSE(recognise_job("resources:\n  accelerators: H100\nrun: |\n  pip list\n"));
}

TEST_CASE("what a command says is said over the recipe that it names")
{
    const std::string script = R"(cat > job.yaml <<'END'
model_name_or_path: Qwen/Qwen2.5-7B-Instruct
stage: sft
finetuning_type: full
per_device_train_batch_size: 2
END
cat > shards.yaml <<'END'
distributed_type: FSDP
num_processes: 4
END
accelerate launch --config_file shards.yaml train.py job.yaml per_device_train_batch_size=1
)";
    const ImportedJob job = as_recognised(script);
    CHECK(job.job.strategy.zero == 3);
    CHECK(job.job.world() == 4);
    CHECK(job.job.training.micro_batch == 1);
    CHECK_FALSE(job.job.training.lora.has_value());
}

TEST_CASE("a model is found by any folder of its path, and weights in fewer bits are flagged")
{
    const auto named = [](const std::string& name) {
        return as_recognised("base_model: " + name + "\n");
    };
    CHECK(named("saves/qwen3-4b/full/sft").scenario.scenario.model.path == "qwen3-4b");
    CHECK(named("openlm-research/open_llama_3b_v2").scenario.scenario.model.path ==
          "open-llama-3b-v2");
    const ImportedJob narrow = named("unsloth/Meta-Llama-3.1-8B-bnb-4bit");
    CHECK(narrow.scenario.scenario.model.path == "llama-3.1-8b");
    CHECK(says(narrow.notes.flagged, "fewer bits"));
    // ms-swift calls the trained model by another name.
    CHECK(as_recognised("swift sft --model Qwen/Qwen2.5-7B-Instruct --model_name mine\n")
              .scenario.scenario.model.path == "qwen2.5-7b");
}

TEST_CASE("adapters on all matrices are those that the model has and that are modelled")
{
    const auto targets = [](const std::string& model) {
        return as_recognised("base_model: " + model +
                             "\nadapter: lora\nlora_r: 8\nlora_target_linear: true\n");
    };
    const ImportedJob ungated = targets("microsoft/phi-2");
    CHECK(ungated.job.training.lora->targets.size() == 6);
    CHECK_FALSE(says(ungated.notes.flagged, "left out"));
    const ImportedJob experts = targets("mistralai/Mixtral-8x7B-v0.1");
    CHECK(experts.job.training.lora->targets.size() == 4);
    CHECK(says(experts.notes.flagged, "gate_proj, up_proj, down_proj"));
    const ImportedJob fused = as_recognised("base_model: microsoft/phi-2\nadapter: lora\n"
                                            "lora_r: 8\nlora_target_modules: [Wqkv, fc1, fc2]\n");
    CHECK(fused.job.training.lora->has(AdapterTarget::linear_qkv));
    CHECK(fused.job.training.lora->has(AdapterTarget::down_proj));
}

TEST_CASE("a recipe of LLM Foundry describes its model, and its platform the GPUs")
{
    const std::string recipe = "max_seq_len: 1024\nmodel:\n  name: mpt_causal_lm\n  d_model: 1024\n"
                               "  n_heads: 16\n  n_layers: 8\n  expansion_ratio: 4\n"
                               "  vocab_size: 50368\n  no_bias: true\n  attn_config:\n"
                               "    attn_impl: triton\n    alibi: true\n"
                               "optimizer:\n  name: decoupled_lionw\nglobal_train_batch_size: 64\n"
                               "device_train_microbatch_size: 4\nprecision: amp_bf16\n"
                               "fsdp_config:\n  sharding_strategy: SHARD_GRAD_OP\n"
                               "  mixed_precision: PURE\n  activation_checkpointing: true\n";
    const ImportedJob job = as_recognised(recipe);
    CHECK(model_of(job).hidden == 1024);
    CHECK(model_of(job).ffn == 4096);
    CHECK(!model_of(job).linear_bias);
    CHECK(model_of(job).position == PositionKind::none);
    CHECK(job.job.training.sequence_length == 1024);
    CHECK(job.job.training.global_batch == 64);
    CHECK(job.job.training.micro_batch == 4);
    CHECK(job.job.training.precision == Precision::bf16);
    CHECK(job.job.training.recompute == Recompute::full);
    CHECK(job.job.strategy.zero == 3);
    CHECK(job.job.strategy.reshard_after_forward == false);
    CHECK(job.scenario.scenario.software.attention == AttentionKernel::triton);
    CHECK(says(job.notes.assumed, "decoupled_lionw: taken as Adam"));
    CHECK(says(job.notes.flagged, "--fsdp-mixed-precision PURE"));
    const ImportedJob run = as_recognised(
        "compute:\n  gpus: 16\nparameters:\n  max_seq_len: 512\n  global_train_batch_size: 64\n"
        "  model:\n    name: hf_causal_lm\n"
        "    pretrained_model_name_or_path: meta-llama/Llama-2-7b-hf\n  precision: amp_bf16\n"
        "  device_train_microbatch_size: auto\n");
    CHECK(run.job.world() == 16);
    CHECK(run.job.training.global_batch == 64);
    CHECK(run.job.strategy.zero == 0);
}
