// Launches of what wraps Megatron-LM and Trainer, and of scripts inside scripts.

#include "sim/study/jobs/job_verdict.h"
#include "tests/unit/study/jobs/importing.h"

using namespace trainyard;
using namespace trainyard::testing;

namespace {

const std::string little_decoder =
    " --num-layers 8 --hidden-size 1024 --num-attention-heads 16 --seq-length 512 "
    "--max-position-embeddings 512 --micro-batch-size 2 --global-batch-size 64 ";

JobVerdict verdict_of(const std::string& text)
{
    JobImportOptions options = on_h100(1);
    options.cluster = {};
    options.cluster.gpu = "h100";
    StageMemos memos;
    return judge_job(text, "job", options, memos);
}

} // namespace

TEST_CASE("ms-swift on Megatron-Core has defaults of its own")
{
    const ImportedJob job = as_recognised("NPROC_PER_NODE=2 megatron sft --load "
                                          "Qwen2.5-7B-Instruct-mcore --model_name robot "
                                          "--tensor_model_parallel_size 2 --micro_batch_size 4 "
                                          "--max_length 2048\n");
    CHECK(job.scenario.scenario.model.path == "qwen2.5-7b");
    CHECK(job.job.world() == 2);
    CHECK(job.job.strategy.zero == 1);
    CHECK(job.job.training.global_batch == 16);
    CHECK(job.job.training.recompute == Recompute::selective);
    CHECK(job.scenario.scenario.software.attention == AttentionKernel::flash2);
    CHECK(job.scenario.scenario.software.fused_loss == true);
    CHECK(says(job.notes.assumed, "--global-batch-size 16: ms-swift on Megatron-Core's default"));
    const ImportedJob experts =
        as_recognised("NPROC_PER_NODE=8 megatron sft --model Qwen/Qwen3-30B-A3B "
                      "--tensor_model_parallel_size 2 --expert_model_parallel_size 4 "
                      "--micro_batch_size 1 --max_length 2048 --moe_shared_expert_overlap true "
                      "--torch_dtype bfloat16 --use_distributed_optimizer false\n");
    CHECK(experts.job.strategy.experts.dispatcher == Dispatcher::all_to_all);
    CHECK(experts.job.strategy.etp == 1);
    CHECK(experts.job.strategy.zero == 0);
    CHECK(!experts.job.strategy.experts.overlap_shared);
    CHECK(says(experts.notes.ignored, "of no effect without a shared expert"));
    const ImportedJob open = as_recognised(
        "NNODES=$GROUP NPROC_PER_NODE=8 megatron sft --model Qwen/Qwen3-4B --max_length 512\n");
    CHECK(says(open.notes.flagged, "NNODES=${GROUP}: is no number known here"));
    const ImportedJob pairs =
        as_recognised("NPROC_PER_NODE=2 megatron rlhf --model Qwen/Qwen2.5-7B-Instruct "
                      "--tensor_model_parallel_size 2 --micro_batch_size 1 --max_length 512\n");
    CHECK(says(pairs.notes.flagged, "--rlhf-type dpo"));
}

TEST_CASE("ms-swift says attn_impl for attention, and is transformers' where it says nothing")
{
    const auto attention = [](const std::string& more) {
        return as_recognised("NPROC_PER_NODE=4 swift sft --model Qwen/Qwen3-1.7B --max_length 512 "
                             "--tuner_type full " +
                             more)
            .scenario.scenario.software.attention;
    };
    CHECK(attention("--attn_impl flash_attn") == AttentionKernel::flash2);
    CHECK(attention("") == AttentionKernel::sdpa);
}

TEST_CASE("recipes of LLaMA-Factory's version 1 recompute unless they say otherwise")
{
    const std::string recipe = "model: Qwen/Qwen3-4B\nmodel_class: llm\noutput_dir: out\n"
                               "micro_batch_size: 1\ncutoff_len: 1024\nlearning_rate: 1.0e-4\n";
    CHECK(as_recognised(recipe).job.training.recompute == Recompute::full);
    CHECK(
        as_recognised(recipe + "enable_activation_checkpointing: false\n").job.training.recompute ==
        Recompute::none);
}

TEST_CASE("slime trains with what it sets for Megatron-LM, on the GPUs of its actors")
{
    const ImportedJob job = as_recognised(
        "ray job submit --address=x -- python3 train.py --actor-num-nodes 2 "
        "--actor-num-gpus-per-node 4 --num-rollout 300 --rollout-batch-size 16 --num-layers 8 "
        "--hidden-size 1024 --num-attention-heads 16 --use-rotary-position-embeddings "
        "--advantage-estimator grpo --global-batch-size 64\n");
    CHECK(job.job.world() == 8);
    CHECK(job.scenario.scenario.topology.given());
    CHECK(job.job.training.precision == Precision::bf16);
    CHECK(job.job.training.sequence_length == 4096);
    CHECK(job.job.strategy.zero == 1);
    CHECK(says(job.notes.flagged, "--advantage-estimator grpo"));
    CHECK(says(job.notes.flagged, "--num-rollout 300"));
}

TEST_CASE("a shell's text in single quotes is a script that knows the variables")
{
    const ImportedJob job = as_recognised(
        "NNODES=2\nGPUS=4\nexport LAUNCHER=\"python -u -m torch.distributed.launch "
        "--nproc_per_node $GPUS --nnodes $NNODES --master_addr x\"\n"
        "export CMD=\" /x/pretrain_gpt.py --bf16" +
        little_decoder + "\"\nbash -c '$LAUNCHER --node_rank ${RANK} $CMD' 2>&1 | tee log\n");
    CHECK(job.job.world() == 8);
    CHECK(says(job.notes.understood, "2 nodes -> the launch"));
    CHECK(says(job.notes.understood, "4 GPUs a node -> the launch"));
    CHECK(says(job.notes.understood, "line 4: --num-layers 8 -> model.layers 8"));
    CHECK(!says(job.notes.ignored, "--nproc-per-node"));
}

TEST_CASE("a script inside a script may write the settings that it starts")
{
    const ImportedJob job = as_recognised(
        "#!/usr/bin/bash\ndocker run image bash -lc '\ncat > /tmp/small.toml <<TOML\n[model]\n"
        "name = \"qwen3\"\nflavor = \"0.6B\"\n[training]\nlocal_batch_size = 2\nseq_len = "
        "512\nTOML\ntorchrun --nproc_per_node 4 -m torchtitan.train --job.config_file "
        "/tmp/small.toml\n'\n");
    CHECK(job.job.world() == 4);
    CHECK(job.job.training.sequence_length == 512);
    CHECK(job.job.training.micro_batch == 2);
}

TEST_CASE("arithmetic on what is not known names it")
{
    const std::string script =
        "NODES=$1\nDP=$(( NODES * 8 ))\nGLOBAL=$(( 4 * DP * STEPS ))\n"
        "torchrun --nproc_per_node 8 pretrain_gpt.py --num-layers 8 --hidden-size 1024 "
        "--num-attention-heads 16 --seq-length 512 --max-position-embeddings 512 --bf16 "
        "--micro-batch-size 4 --global-batch-size $GLOBAL\n";
    const Diagnostic refused =
        refusal_about("--global-batch-size", JobKind::megatron, script, on_h100(1));
    CHECK(refused.message.find("the variable 1 is not set") != std::string::npos);
    CHECK(refused.hint == "--define 1=VALUE sets it");
    JobImportOptions options = on_h100(1);
    options.defined["1"] = "1";
    CHECK(refusal_about("--global-batch-size", JobKind::megatron, script, options).hint ==
          "--define STEPS=VALUE sets it");
    options.defined["STEPS"] = "2";
    CHECK(imported(JobKind::megatron, script, options).job.training.global_batch == 64);
}

TEST_CASE("a script given as a configuration is pointed at the kind that reads it")
{
    const std::string script = "#!/bin/bash\ntorchrun --nproc_per_node 8 train.py --bf16\n";
    for (const JobKind kind : {JobKind::deepspeed, JobKind::torchtitan})
        CHECK(refusal_of(kind, script, on_h100(1)).hint.find("import torchrun FILE") !=
              std::string::npos);
}

TEST_CASE("files that build and install are no jobs")
{
    for (const char* const text :
         {"FROM ubuntu:22.04\nRUN pip install deepspeed && accelerate launch --help\n",
          "[build-system]\nrequires = [\"x\"]\n[tool.x]\ncommand = \"torchrun x\"\n",
          "#!/bin/bash\npip install deepspeed accelerate\n"})
        CHECK(verdict_of(text).fate == JobFate::no_job);
    CHECK(verdict_of("torchrun --nproc_per_node 8 train.py --bf16 --model_name_or_path gpt2\n")
              .fate == JobFate::imported);
}

TEST_CASE("devices that are visible tell how many where the launch's number is not known")
{
    const ImportedJob job = as_recognised(
        "CUDA_VISIBLE_DEVICES=1,3,4,5,6,7 torchrun --nproc_per_node=$(nproc_of x) train.py "
        "--model_name_or_path gpt2 --bf16 --per_device_train_batch_size 1\n");
    CHECK(job.job.world() == 6);
}

TEST_CASE("a task of SkyPilot has its nodes where it does not say which GPUs")
{
    const ImportedJob job = as_recognised("num_nodes: 2\nresources:\n  cloud: slurm\nrun: |\n"
                                          "  torchrun --nproc_per_node 4 train.py --bf16 "
                                          "--model_name_or_path gpt2 "
                                          "--per_device_train_batch_size 1\n");
    CHECK(job.job.world() == 8);
}
