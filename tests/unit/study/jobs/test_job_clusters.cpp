// How many GPUs a job gets where nothing but their kind is said.

#include "sim/study/jobs/job_verdict.h"
#include "sim/study/jobs/named_model.h"
#include "tests/unit/study/jobs/importing.h"

using namespace trainyard;
using namespace trainyard::testing;

namespace {

JobImportOptions gpu_alone()
{
    JobImportOptions options = on_h100(1);
    options.cluster = {};
    options.cluster.gpu = "h100";
    return options;
}

const std::string sizes =
    "--num-layers 16 --hidden-size 2048 --num-attention-heads 16 --seq-length "
    "512 --bf16 --position-embedding-type rope ";

ImportedJob launched(const std::string& text)
{
    return imported(JobKind::megatron, text, gpu_alone());
}

} // namespace

TEST_CASE("a cluster that nothing states is as large as the degrees need, in whole nodes")
{
    CHECK(launched(sizes).job.world() == 8);
    const ImportedJob wide = launched(sizes + "--tensor-model-parallel-size 8 "
                                              "--pipeline-model-parallel-size 4");
    CHECK(wide.job.world() == 32);
    CHECK(wide.job.dp() == 1);
    CHECK(says(wide.notes.assumed, "the fewest that tp 8 x pp 4 (32 GPUs) divide"));
    // 3 stages: 24 GPUs are the fewest whole nodes.
    CHECK(launched("--num-layers 18 --hidden-size 2048 --num-attention-heads 16 --seq-length 512 "
                   "--position-embedding-type rope --pipeline-model-parallel-size 3")
              .job.world() == 24);
    // A batch of 4 passes has none for 8 replicas.
    const ImportedJob small = launched(sizes + "--micro-batch-size 2 --global-batch-size 8");
    CHECK(small.job.world() == 4);
    CHECK(says(small.notes.assumed, "4 passes a step divide over 4 replicas"));
}

TEST_CASE("a launch of fewer GPUs than its own degrees need is flagged and outgrown")
{
    const ImportedJob job =
        launched("torchrun --nnodes 1 --nproc_per_node 8 pretrain_gpt.py " + sizes +
                 "--tensor-model-parallel-size 8 "
                 "--pipeline-model-parallel-size 2");
    CHECK(job.job.world() == 16);
    CHECK(says(job.notes.flagged, "the launch starts 8 GPUs, fewer than a replica needs"));
    // What the command line says is meant.
    JobImportOptions given = gpu_alone();
    given.cluster.nodes = 1;
    CHECK(!refusal_of(JobKind::megatron, sizes + "--tensor-model-parallel-size 16", given)
               .message.empty());
}

TEST_CASE("batches and shards that state the replicas make the cluster")
{
    const ImportedJob deepspeed =
        imported(JobKind::deepspeed,
                 R"({"train_batch_size": 512, "train_micro_batch_size_per_gpu": 4,
                     "gradient_accumulation_steps": 2, "fp16": {"enabled": true}})",
                 with_model(gpu_alone(), "llama-2-7b"));
    CHECK(deepspeed.job.world() == 64);
    const ImportedJob titan =
        imported(JobKind::torchtitan,
                 "[model]\nname = \"llama3\"\nflavor = \"8B\"\n[parallelism]\n"
                 "data_parallel_shard_degree = 2\n"
                 "data_parallel_replicate_degree = 2\n"
                 "tensor_parallel_degree = 8\n",
                 gpu_alone());
    CHECK(titan.job.world() == 32);
    CHECK(titan.job.training.global_batch == 32); // 8 on each of 4 replicas
    const ImportedJob half = imported(JobKind::torchtitan,
                                      "[model]\nname = \"llama3\"\nflavor = \"8B\"\n[parallelism]\n"
                                      "data_parallel_shard_degree = 1\n"
                                      "tensor_parallel_degree = 4\n",
                                      gpu_alone());
    CHECK(half.job.world() == 4);
    CHECK(says(half.notes.assumed, "4 of the 8 GPUs usual for a node of h100"));
}

TEST_CASE("models are known by the names that scripts have for them")
{
    for (const auto& [name, shipped] : std::map<std::string, std::string>{
             {"meta-llama/Llama-3.1-70B", "llama-3.1-70b"},
             {"meta-llama/Llama-2-7b-chat-hf", "llama-2-7b"},
             {"Qwen/Qwen2.5-7B", "qwen2.5-7b"},
             {"/data/models/Qwen2.5-7B-Instruct/", "qwen2.5-7b"},
             {"models--Qwen--Qwen3-4B-Instruct-2507", "qwen3-4b"},
             {"Meta-Llama-3-8B", "llama-3.1-8b"},
             {"hub/models--Qwen--Qwen3-8B/snapshots/0123abc", "qwen3-8b"},
             {"Qwen/Qwen2.5-VL-7B-Instruct", "qwen2.5-7b"},
             {"Qwen/Qwen3-VL-30B-A3B-Instruct", "qwen3-30b-a3b"},
             {"mistralai/Ministral-3-8B-Instruct-2512", "ministral-3-8b"},
             {"swiss-ai/Apertus-8B-Instruct-2509", "apertus-8b"},
             {"allenai/Olmo-3-1025-7B", "olmo-3-7b"},
             {"stabilityai/stablelm-2-1_6b", "stablelm-2-1.6b"},
             {"microsoft/phi-1_5", "phi-1.5"},
             {"llama3.1_8B-BF16-pretrain.yaml", "llama-3.1-8b"},
             {"Qwen/Qwen-7B", ""},
             {"facebook/opt-1.3b", ""},
             {"", ""},
             {"///", ""}})
        CHECK(shipped_model_named(name) == shipped);
}

TEST_CASE("every file gets a verdict, and no form of it a crash")
{
    StageMemos memos;
    const auto verdict = [&](const std::string& text) {
        return judge_job(text, "job", gpu_alone(), memos);
    };
    CHECK(verdict("").what == "is empty");
    CHECK(verdict(" \n").fate == JobFate::no_job);
    CHECK(verdict(std::string("\x7f"
                              "ELF\0\0",
                              6))
              .what == "is no text");
    CHECK(verdict(R"({"cells": [], "nbformat": 4})").what.starts_with("is a notebook"));
    CHECK(verdict("torchrun x.py --inference-max-requests 4").what == "is inference, not training");
    CHECK(verdict("a poem\n").fate == JobFate::no_job);
    const JobVerdict unset =
        verdict("\ntorchrun pretrain_gpt.py --num-layers $L " + sizes.substr(15));
    CHECK(unset.fate == JobFate::failed);
    CHECK(unset.line == 2);
    CHECK(unset.hint == "--define L=VALUE sets it");
    const JobVerdict read = verdict("torchrun pretrain_gpt.py " + sizes);
    CHECK(read.fate == JobFate::imported);
    CHECK(read.kind == JobKind::megatron);
    CHECK(read.what == "megatron-16x2048, 8 GPUs, dp 8, batch 8 in passes of 1, 512 tokens");
}

TEST_CASE("words of inference count in commands, not in comments")
{
    CHECK(why_no_job("python run_text_generation_server.py --num-layers 2\n") ==
          "is inference, not training");
    CHECK_FALSE(why_no_job("  # then: run_text_generation_server.py\npython pretrain_gpt.py\n"));
    CHECK(why_no_job("# see below\npython x.py --inference-max-requests 8").has_value());
    // Reinforcement learning generates between its steps.
    CHECK_FALSE(why_no_job("python x.py --train-iters 9 --inference-max-requests 8").has_value());
}
