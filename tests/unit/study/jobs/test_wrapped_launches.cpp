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
