#include "tests/support/folder.h"
#include "tests/unit/study/jobs/importing.h"

using namespace trainyard;
using namespace trainyard::testing;

namespace {

JobImportOptions llama_on_h100()
{
    JobImportOptions out = with_model({}, "llama-2-7b");
    out.cluster.gpu = "h100";
    out.folder = data_dir() / "scenarios";
    return out;
}

} // namespace

TEST_CASE("a torchrun line gives the cluster's size and its program's batch")
{
    const ImportedJob job = imported(JobKind::torchrun,
                                     "torchrun --nnodes=2 --nproc_per_node=8 train.py "
                                     "--per_device_train_batch_size 2 "
                                     "--gradient_accumulation_steps 4 --bf16 True "
                                     "--fsdp \"full_shard auto_wrap\" --max_seq_length 2048",
                                     llama_on_h100());
    CHECK(job.job.dp() == 16);
    CHECK(job.job.training.global_batch == 128); // 2 x 4 x 16
    CHECK(job.job.strategy.zero == 3);
    CHECK(job.job.training.precision == Precision::bf16);
    CHECK(job.job.training.sequence_length == 2048);
}

TEST_CASE("a manifest of Kubernetes gives the command of its container, its pods and their GPUs")
{
    const std::string pod =
        "      template:\n        spec:\n          containers:\n"
        "          - name: pytorch\n"
        "            env:\n            - name: TOKENS\n              value: \"1024\"\n"
        "            resources:\n              limits:\n"
        "                nvidia.com/gpu: 4\n";
    const std::string head = "apiVersion: v1\nkind: Service\n---\n"
                             "apiVersion: kubeflow.org/v1\nkind: PyTorchJob\nspec:\n"
                             "  pytorchReplicaSpecs:\n    Master:\n      replicas: 1\n" +
                             pod;
    const std::string workers = "    Worker:\n      replicas: 3\n" + pod;
    const std::string in_a_shell =
        "            command: [bash, -c]\n            args:\n            - |\n"
        "              cd /work\n"
        "              torchrun --nnodes=$WORLD_SIZE train.py --per_device_train_batch_size 2 \\\n"
        "                --bf16 True --max_seq_length $TOKENS\n";
    const std::string as_words =
        "            command: [torchrun, train.py, --per_device_train_batch_size, \"2\", --bf16, "
        "\"True\", --max_seq_length, $(TOKENS)]\n";
    for (const std::string& command : {in_a_shell, as_words}) {
        const ImportedJob job =
            imported(JobKind::torchrun, head + command + workers + command, llama_on_h100());
        CHECK(job.job.world() == 16); // 4 pods of 4
        CHECK(job.job.training.micro_batch == 2);
        CHECK(job.job.training.sequence_length == 1024);
    }
    // --per_device_train_batch_size stands in line 24.
    const ImportedJob job = imported(JobKind::torchrun, head + in_a_shell, llama_on_h100());
    CHECK(says(job.notes.understood, "line 24: --per-device-train-batch-size 2"));
    CHECK(job.job.world() == 4);
}

TEST_CASE("a Slurm script's directives size the job, tasks per node do not")
{
    const ImportedJob job =
        imported(JobKind::torchrun,
                 "#!/bin/bash\n#SBATCH -N 2\n#SBATCH --ntasks-per-node=1\n"
                 "#SBATCH --gres=gpu:8\nexport NCCL_ALGO=Tree\n"
                 "srun python train.py --per_device_train_batch_size 1 --bf16\n",
                 llama_on_h100());
    CHECK(job.job.dp() == 16);
    CHECK(job.scenario.scenario.environment.at("NCCL_ALGO") == "Tree");
}

TEST_CASE("a launch of Megatron-LM is read as such")
{
    const ImportedJob job =
        imported(JobKind::torchrun,
                 "torchrun --nproc-per-node 8 pretrain_gpt.py --num-layers 8 --hidden-size 1024 "
                 "--num-attention-heads 16 --seq-length 512 --max-position-embeddings 512 "
                 "--micro-batch-size 1 --tensor-model-parallel-size 2 --bf16",
                 on_h100(1));
    CHECK(job.job.strategy.tp == 2);
    CHECK(model_of(job).layers == 8);
}

TEST_CASE("a launch names its configuration, which lies beside the script")
{
    const Folder folder;
    folder.file("ds.json", R"({"train_micro_batch_size_per_gpu": "auto", "bf16": {"enabled": true},
        "zero_optimization": {"stage": 3}})");
    folder.file("llama.toml", "[model]\nflavor = \"8B\"\n[training]\nlocal_batch_size = 1\n");
    const auto read = [&](const std::string& text) {
        StageMemos memos;
        const Checked<ImportedJob> job = import_job(
            JobKind::torchrun, text, (folder.path() / "run.sh").string(), llama_on_h100(), memos);
        REQUIRE(job);
        return job->job;
    };
    const Job deepspeed = read("deepspeed --num_gpus 8 train.py --deepspeed ds.json "
                               "--per_device_train_batch_size 2");
    CHECK(deepspeed.strategy.zero == 3);
    CHECK(deepspeed.training.micro_batch == 2);
    const Job titan = read("torchrun --nproc-per-node 8 -m torchtitan.train --job.config_file "
                           "llama.toml --training.local_batch_size 2 "
                           "--parallelism.tensor_parallel_degree 2");
    CHECK(titan.training.micro_batch == 2);
    CHECK(titan.strategy.tp == 2);
}

TEST_CASE("a variable of the environment that would be refused stays out")
{
    const ImportedJob job = imported(JobKind::torchrun,
                                     "NCCL_ALGO=Rnig NCCL_NTHREADS=16 NCCL_FROBNICATE=1 torchrun "
                                     "--nproc_per_node=8 train.py --batch_size 1 --bf16",
                                     llama_on_h100());
    CHECK(says(job.notes.flagged, "NCCL_ALGO=Rnig"));
    // NCCL goes on with another number of threads: the job runs, and says so.
    CHECK(job.scenario.scenario.environment ==
          std::map<std::string, std::string>{{"NCCL_NTHREADS", "16"}});
    CHECK(job.warnings.front().message.starts_with("NCCL_NTHREADS=16 is not accepted"));
    CHECK(says(job.notes.ignored, "NCCL_FROBNICATE=1"));
}

TEST_CASE("a launch that names its model has it, and Trainer's batch where it states none")
{
    JobImportOptions options = on_h100(1);
    const ImportedJob job = imported(JobKind::torchrun,
                                     "torchrun --nproc_per_node 8 train.py --bf16 "
                                     "--model_name_or_path /data/Qwen2.5-7B-Instruct",
                                     options);
    CHECK(job.scenario.scenario.model.path == "qwen2.5-7b");
    CHECK(job.job.training.micro_batch == 8);
    CHECK(says(job.notes.assumed, "Hugging Face Trainer's default"));
    const Diagnostic unknown =
        refusal_of(JobKind::torchrun, "torchrun train.py --model_name_or_path me/mine-9b", options);
    CHECK(unknown.message == "--model-name-or-path me/mine-9b: is none of the shipped models");
    CHECK(unknown.hint.find("--model") != std::string::npos);
}

TEST_CASE("a configuration that is not there tells what its name does")
{
    JobImportOptions options = on_h100(1);
    const ImportedJob zero = imported(JobKind::torchrun,
                                      "deepspeed --num_gpus 8 train.py --bf16 --deepspeed "
                                      "conf/ds_zero2.json --model_name_or_path llama-2-7b",
                                      options);
    CHECK(zero.job.strategy.zero == 2);
    CHECK(says(zero.notes.assumed, "ZeRO 2, as conf/ds_zero2.json is called"));
    const ImportedJob titan = imported(
        JobKind::torchrun,
        "torchrun --nproc_per_node 8 -m torchtitan.train --module llama3 --config llama3_8b",
        options);
    CHECK(titan.job.model.name == "llama3-8B");
    CHECK(says(titan.notes.flagged, "the settings of llama3_8b are not read"));
}

TEST_CASE("a comment among continued lines ends a command, and what follows is meant too")
{
    JobImportOptions options = on_h100(1);
    options.cluster.gpus_per_node.reset();
    options.cluster.nodes.reset();
    const ImportedJob job = imported(JobKind::torchrun,
                                     "deepspeed --include localhost:0,1 train.py \\\n"
                                     "    # its model\n"
                                     "    --model_name_or_path llama-2-7b \\\n"
                                     "    # its batch\n"
                                     "    --per_device_train_batch_size 4 --bf16\n",
                                     options);
    CHECK(job.job.world() == 2);
    CHECK(job.job.training.micro_batch == 4);
    CHECK(says(job.notes.flagged, "a comment among its continued lines"));
}

TEST_CASE("of a page in Markdown the code is read, at its lines")
{
    const ImportedJob job =
        imported(JobKind::torchrun,
                 "Run `it`:\n\n```bash\ntorchrun --nproc_per_node 8 train.py --bf16 \\\n"
                 "  --model_name_or_path llama-2-7b --max_seq_length 1024\n```\nand \"wait\n",
                 on_h100(1));
    CHECK(job.job.training.sequence_length == 1024);
    CHECK(says(job.notes.understood, "line 5: --max-seq-length 1024"));
}

TEST_CASE("blocks of a page that are of no shell are not read, and none goes on in the next")
{
    const ImportedJob job = imported(JobKind::torchrun,
                                     "# Page\n ```bash\n torchrun --nproc_per_node 8 train.py \\\n"
                                     "   --bf16 --max_length 512\n ```\n then\n```shell\n"
                                     "--use_lora True\n```\n```python\nbf16 = torchrun(4)\n```\n",
                                     llama_on_h100());
    CHECK(job.job.dp() == 8);
    CHECK(job.job.training.sequence_length == 512);
    CHECK(!job.job.training.lora);
}

TEST_CASE("a launcher's configuration that is not there tells by its name how it shards")
{
    const ImportedJob job = imported(
        JobKind::torchrun,
        "R=$(echo a | python3 -c 'print(1)')\naccelerate launch --num_processes $((8 * $N)) "
        "--machine_rank $R --config_file conf/zero2-bf16.yaml train.py\n",
        llama_on_h100());
    CHECK(job.job.strategy.zero == 2);
    CHECK(job.job.training.precision == Precision::bf16);
}

TEST_CASE("a launch whose recipe is not there is its arguments and the model that is given")
{
    const std::string launch = "CUDA_VISIBLE_DEVICES=0,1 accelerate launch train.py conf/sft.yaml "
                               "--fsdp.sharding_strategy=FULL_SHARD "
                               "--device_train_microbatch_size=2\n";
    const ImportedJob job = imported(JobKind::torchrun, launch, llama_on_h100());
    CHECK(job.job.dp() == 2);
    CHECK(job.job.strategy.zero == 3);
    CHECK(job.job.training.micro_batch == 2);
    CHECK(job.job.training.precision == Precision::bf16);
    CHECK(says(job.notes.flagged, "the settings of conf/sft.yaml are not read: all that the "
                                  "arguments do not say is as Hugging Face's Trainer has it"));
    JobImportOptions alone = llama_on_h100();
    alone.model = {};
    CHECK(refusal_of(JobKind::torchrun, launch, alone).message ==
          "conf/sft.yaml: holds the job, and is not there");
}

TEST_CASE("what is trained is adapters or all, in the words of each framework")
{
    const auto lora = [](const std::string& words) {
        return imported(JobKind::torchrun,
                        "torchrun --nproc_per_node 8 train.py --bf16 --max_length 512 " + words,
                        llama_on_h100())
            .job.training.lora;
    };
    CHECK(lora("--finetuning_type lora --lora_target q_proj,v_proj")->rank == 8);
    CHECK(lora("--train_type lora --lora_rank 16")->rank == 16);
    CHECK(lora("--lora_dim 4")->rank == 4);
    CHECK(!lora("--finetuning_type full --lora_rank 8"));
}

TEST_CASE("a launch without an argument known here is told, a command that is no launch is refused")
{
    const ImportedJob job =
        imported(JobKind::torchrun, "torchrun --nproc_per_node 4 main.py 50 10\n", llama_on_h100());
    CHECK(says(job.notes.flagged, "line 1: no argument of main.py says anything of the job: its "
                                  "batch, length and format are defaults"));
    CHECK(refusal_of(JobKind::torchrun,
                     "submit run --cluster a --gpus 8 --replicas 8 -- sh torchrun.sh --env x\n",
                     llama_on_h100())
              .message == "submit: starts something, and none of its arguments is known here");
}

TEST_CASE("the source and the target of a decoder are one sequence")
{
    const auto length = [](const std::string& words) {
        return imported(JobKind::torchrun, "torchrun --nproc_per_node 8 train.py --bf16 " + words,
                        llama_on_h100())
            .job.training.sequence_length;
    };
    CHECK(length("--max_source_length 64 --max_target_length 192") == 256);
    CHECK(length("--max_source_length 64") == 64);
    CHECK(length("--max_seq_length 512 --max_target_length 192") == 512);
}

TEST_CASE("frozen weights in fewer bits and trained prefixes are flagged")
{
    const auto flagged = [](const std::string& words) {
        return imported(JobKind::torchrun,
                        "torchrun --nproc_per_node 8 train.py --bf16 --max_length 512 " + words,
                        llama_on_h100())
            .notes.flagged;
    };
    CHECK(says(flagged("--lora_r 8 --use_4bit_quantization True"), "frozen weights in fewer bits"));
    CHECK(says(flagged("--lora_r 8 --load_in_8bit"), "frozen weights in fewer bits"));
    CHECK(says(flagged("--pre_seq_len 128 --quantization_bit 4"), "frozen weights in fewer bits"));
    CHECK(says(flagged("--pre_seq_len 128"), "a trained prefix is not modelled"));
    CHECK(flagged("--lora_r 8 --use_4bit_quantization False").empty());
    CHECK(flagged("--lora_r 8 --bits 16").empty());
}

TEST_CASE("a Kubernetes manifest starts what its container runs, on as many nodes as it has pods")
{
    const std::string manifest = R"(apiVersion: v1
kind: ConfigMap
data: {}
---
apiVersion: kubeflow.org/v1
kind: PyTorchJob
spec:
  pytorchReplicaSpecs:
    Master:
      replicas: 1
      template:
        spec:
          containers:
            - name: pytorch
              command: ["/bin/bash", "-c"]
              args:
                - |
                  cd /workspace
                  torchrun --nproc_per_node=8 --nnodes=$WORLD_SIZE pretrain_gpt.py --num-layers 24 \
                    --hidden-size 2048 --num-attention-heads 16 --seq-length 2048 \
                    --max-position-embeddings 2048 --micro-batch-size 4 --global-batch-size 256 \
                    --tensor-model-parallel-size 2
              resources: {limits: {nvidia.com/gpu: 8}}
    Worker:
      replicas: 3
      template:
        spec:
          containers:
            - command: [sleep, infinity]
              resources: {limits: {nvidia.com/gpu: "8"}}
)";
    JobImportOptions h100;
    h100.cluster.gpu = "h100";
    REQUIRE(recognise_job(manifest) == JobKind::megatron);
    const ImportedJob job = imported(JobKind::megatron, manifest, h100);
    CHECK(job.job.world() == 32);
    CHECK(job.job.strategy.tp == 2);
    CHECK(says(job.notes.understood, "line 20: --hidden-size 2048"));
    CHECK(says(job.notes.understood, "4 pods with GPUs"));
    // As a list of words, which need no shell.
    const ImportedJob words = imported(JobKind::torchrun, R"(apiVersion: batch/v1
kind: Job
spec:
  parallelism: 2
  template:
    spec:
      containers:
        - command:
            - torchrun
            - finetune.py
          args: [--model_name_or_path, meta-llama/Llama-2-7b-hf]
          env:
            - {name: NCCL_DEBUG, value: INFO}
          resources: {limits: {nvidia.com/gpu: 4}}
)",
                                       h100);
    CHECK(words.scenario.scenario.model.path == "llama-2-7b");
    CHECK(words.job.world() == 8);
    CHECK(words.scenario.scenario.environment.at("NCCL_DEBUG") == "INFO");
}
