// Launches whose model or settings stand elsewhere: in a path, a class, a configuration, a script.

#include "sim/study/jobs/job_verdict.h"
#include "tests/unit/study/jobs/importing.h"

namespace trainyard {
namespace {

using namespace testing;

JobImportOptions on_some_h100()
{
    JobImportOptions options = on_h100(1);
    options.cluster = {};
    options.cluster.gpu = "h100";
    return options;
}

Diagnostic refused(const std::string& text)
{
    return refusal_of(JobKind::torchrun, text, on_some_h100());
}

const std::string tuned = " --bf16 --per_device_train_batch_size 2 --max_seq_length 512\n";

std::string model_in(const std::string& argument)
{
    return as_recognised("torchrun --nproc_per_node 8 t.py " + argument + tuned)
        .scenario.scenario.model.path;
}

} // namespace

TEST_CASE(
    "a model's name stands behind folders that are not known, and before what it was tuned on")
{
    CHECK(model_in("--model_name_or_path $HUB/llama-7b") == "llama-2-7b");
    CHECK(model_in("--model_name_or_path me/TinyLlama-1.1B-step-240k-503b") == "tinyllama-1.1b");
    CHECK(model_in("--model_name_or_path allenai/OLMoE-1B-7B-0924") == "olmoe-1b-7b");
    const std::string launch = "torchrun --nproc_per_node 8 t.py --model_name_or_path ";
    CHECK(refused(launch + "$HUB" + tuned).message ==
          "--model-name-or-path ${HUB}: the variable HUB is not set");
    CHECK(refused(launch + "'<a model>'" + tuned).message.ends_with("that is not filled in"));
    for (const std::string other : {"me/llama-2-7b-moe", "me/qwen3-8b-a1b", "gpt2-medium",
                                    "llama-3-8b-8layers", "Qwen2.5-7B-upscaled-14B"})
        CHECK(refused(launch + other + tuned).message.ends_with("is none of the shipped models"));
}

TEST_CASE("Hugging Face's configuration that lies beside is the model")
{
    const std::string config = R"({"model_type": "llama", "hidden_size": 512, "vocab_size": 32000,
        "num_hidden_layers": 6, "num_attention_heads": 8, "intermediate_size": 1536})";
    const ImportedJob job = as_recognised(
        "cat > small/config.json <<'EOF'\n" + config +
        "\nEOF\ntorchrun --nproc_per_node 8 t.py --model_name_or_path ./small" + tuned);
    CHECK(model_of(job).layers == 6);
    CHECK(model_of(job).hidden == 512);
}

TEST_CASE("a class of models starts from random weights, with sizes of its own or those given")
{
    const std::string launch = "torchrun --nproc_per_node 8 run_clm.py --model_type gpt2";
    CHECK(model_of(as_recognised(launch + tuned)).layers == 12);
    const ImportedJob job =
        as_recognised(launch + " --config_overrides n_embd=1024,n_head=16,n_layer=24" + tuned);
    CHECK(model_of(job).layers == 24);
    CHECK(model_of(job).hidden == 1024);
    CHECK(model_of(job).ffn == 4096);
    CHECK(says(as_recognised(launch + " --config_overrides n_layers=24" + tuned).notes.flagged,
               "has no such size"));
    // Beside a model that is named it is that one's class.
    CHECK(refused(launch + " --config_name gpt2-medium" + tuned).message ==
          "--config-name gpt2-medium: is none of the shipped models");
    CHECK(refused(launch + " --model_name_or_path mine" + tuned).message ==
          "--model-name-or-path mine: is none of the shipped models");
}

TEST_CASE("verl's settings name the model, the batches and the degree of Ulysses")
{
    const ImportedJob job = as_recognised(
        "torchrun --nproc_per_node=8 -m verl.trainer.fsdp_sft_trainer \\\n"
        "  model.partial_pretrain=Qwen/Qwen2.5-7B-Instruct data.max_length=4096 \\\n"
        "  data.train_batch_size=64 data.micro_batch_size_per_gpu=2 model.lora_rank=0 \\\n"
        "  model.enable_gradient_checkpointing=True ulysses_sequence_parallel_size=2\n");
    CHECK(job.scenario.scenario.model.path == "qwen2.5-7b");
    CHECK(job.job.training.global_batch == 64);
    CHECK(job.job.training.micro_batch == 2);
    CHECK(job.job.training.sequence_length == 4096);
    CHECK(job.job.training.recompute == Recompute::full);
    CHECK(job.job.strategy.zero == 3);
    CHECK(job.job.strategy.cp == 2);
    CHECK(!job.job.training.lora);
    // A pass of all GPUs: 16 of them over 8 GPUs in pairs are 4 for each.
    const ImportedJob old = as_recognised(
        "torchrun --nproc_per_node=8 -m verl.trainer.fsdp_sft_trainer data.micro_batch_size=16 "
        "model.partial_pretrain=Qwen/Qwen2.5-7B ulysses_sequence_parallel_size=2\n");
    CHECK(old.job.training.micro_batch == 4);
}

TEST_CASE("Composer's launch says over the recipe that its name tells the model of")
{
    const ImportedJob job = as_recognised(
        "composer -n 8 train.py yamls/mpt-7b.yaml max_seq_len=1024 precision=amp_bf16 \\\n"
        "  global_train_batch_size=256 device_train_microbatch_size=4\n");
    CHECK(job.scenario.scenario.model.path == "mpt-7b");
    CHECK(job.job.training.sequence_length == 1024);
    CHECK(job.job.training.global_batch == 256);
    CHECK(job.job.training.micro_batch == 4);
    CHECK(job.job.training.precision == Precision::bf16);
    CHECK(says(job.notes.flagged, "yamls/mpt-7b.yaml is not there"));
}

TEST_CASE("a configuration that holds the job is named where it is not there")
{
    CHECK(refused("tune run --nproc_per_node 4 full_finetune_distributed --config mine.yaml "
                  "batch_size=1\n")
              .message == "--config mine.yaml: holds the job, and is not there");
    const ImportedJob job = as_recognised(
        "torchrun --nproc_per_node 8 t.py --model_name llama-2-7b --config conf/a.py" + tuned);
    CHECK(says(job.notes.flagged, "the settings of conf/a.py are not read"));
    CHECK(
        !says(as_recognised("torchrun --nproc_per_node 8 t.py --model_name llama-2-7b -c 8" + tuned)
                  .notes.flagged,
              "are not read"));
    CHECK(refused("srun torchrun --nproc_per_node 4 -m lib.sft --config conf/a.py\n")
              .message.starts_with("--config conf/a.py: holds the job"));
    CHECK(refused("sbatch --nodes 4 --wrap=\"srun bash $PWD/job.sh\"\n")
              .message.ends_with("/job.sh: holds the job, and is not there"));
}

TEST_CASE("NeMo's settings on the command line say the machines, and Hydra's names the recipe")
{
    const std::string launch = "python megatron_gpt_pretraining.py trainer.devices=2 "
                               "trainer.num_nodes=1 model.tensor_model_parallel_size=2 "
                               "model.micro_batch_size=1 model.global_batch_size=8 ";
    const ImportedJob job =
        as_recognised(launch + "model.num_layers=12 model.hidden_size=768 "
                               "model.num_attention_heads=12 model.encoder_seq_length=1024\n");
    CHECK(job.job.world() == 2);
    CHECK(refusal_of(JobKind::megatron, launch + "--config-path=conf --config-name=gpt_5b\n",
                     on_some_h100())
              .message == "conf/gpt_5b.yaml: holds the job, and is not there");
}

TEST_CASE("programs of LLaMA-Factory, LLaVA and ColossalAI are told by their arguments")
{
    const ImportedJob factory = as_recognised(
        "deepspeed --num_gpus 8 src/train_bash.py --deepspeed zero2.json --stage sft --fp16 "
        "--model_name_or_path Qwen/Qwen1.5-7B --finetuning_type lora --lora_target q_proj,v_proj "
        "--per_device_train_batch_size 4\n");
    CHECK(factory.job.training.recompute == Recompute::full);
    const ImportedJob llava =
        as_recognised("torchrun --nproc_per_node 8 train.py --lora_enable True --version v1 "
                      "--model_name_or_path lmsys/vicuna-7b-v1.5" +
                      tuned);
    CHECK(llava.job.training.lora->rank == 64);
    CHECK(llava.job.training.lora->targets.size() == 7);
    const ImportedJob colossal =
        as_recognised("colossalai run --nproc_per_node 8 t.py --plugin zero2 --batch_size 2 "
                      "--model_path llama-2-7b --max_length 2048\n");
    CHECK(colossal.job.training.precision == Precision::fp16);
}

TEST_CASE("ms-swift's older words say what its newer ones do")
{
    const ImportedJob job = as_recognised(
        "NPROC_PER_NODE=4 swift sft --model_id_or_path qwen/Qwen2-1___5B --sft_type full "
        "--batch_size 4 --use_flash_attn true --gradient_accumulation_steps 2 --max_length 2048\n");
    CHECK(job.scenario.scenario.model.path == "qwen2.5-1.5b");
    CHECK(job.job.training.micro_batch == 4);
    CHECK(job.job.training.global_batch == 32);
    CHECK(job.scenario.scenario.software.attention == AttentionKernel::flash2);
    CHECK(!job.job.training.lora);
    CHECK(!says(job.notes.assumed, "--tuner-type"));
}

TEST_CASE("adapters of rank 0 are none")
{
    const std::string launch = "torchrun --nproc_per_node 8 t.py --model_name llama-2-7b";
    CHECK(!as_recognised(launch + " --lora_dim 0" + tuned).job.training.lora);
    CHECK(
        as_recognised(launch + " --use_lora --lora_dimension 16" + tuned).job.training.lora->rank ==
        16);
}

TEST_CASE("a module that Python starts alone has the devices that are visible")
{
    const ImportedJob job = as_recognised("export CUDA_VISIBLE_DEVICES=3,4\npython -m lib.train "
                                          "--model_name_or_path llama-2-7b" +
                                          tuned);
    CHECK(job.job.world() == 2);
}

TEST_CASE("torchrun without a number of processes is told of")
{
    const std::string rest = " t.py --model_name_or_path llama-2-7b" + tuned;
    const ImportedJob job = as_recognised("torchrun --nnodes 2" + rest);
    CHECK(job.job.world() == 16);
    CHECK(says(job.notes.assumed, "told no --nproc-per-node"));
    CHECK(!says(as_recognised("torchrun --nproc_per_node 2" + rest).notes.assumed, "told no"));
}

TEST_CASE("a script runs another with what is exported and given to it")
{
    const std::string inner =
        "cat > train.sh <<'EOF'\n#SBATCH --nodes=2\n#SBATCH --gpus-per-node=8\n"
        "torchrun --nnodes $SLURM_NNODES --nproc-per-node 8 pretrain_gpt.py "
        "--num-layers ${LAYERS:-12} --hidden-size 1024 --seq-length $1 "
        "--num-attention-heads 16 --max-position-embeddings $1 --bf16 "
        "--micro-batch-size 1 --global-batch-size 96 "
        "--tensor-model-parallel-size ${TP:-1}\nEOF\n";
    const ImportedJob job =
        as_recognised(inner + "LAYERS=24\nexport TP=2\nsbatch --nodes=3 train.sh 2048\n");
    CHECK(job.job.world() == 24);
    CHECK(model_of(job).layers == 12);
    CHECK(job.job.strategy.tp == 2);
    CHECK(job.job.training.sequence_length == 2048);
    CHECK(says(job.notes.assumed, "the script train.sh runs"));
    CHECK(model_of(as_recognised(inner + "LAYERS=24 bash train.sh 4096\n")).layers == 24);
}

TEST_CASE("a launch that names a file of the script is a launch")
{
    const std::string file = "cat > ds.json <<'EOF'\n{\"zero_optimization\": {\"stage\": 3}}\nEOF\n"
                             "cat > note.sh <<'EOF'\necho note\nEOF\n";
    const std::string program = "t.py --model_name_or_path llama-2-7b --deepspeed ds.json" + tuned;
    for (const std::string start :
         {"nohup deepspeed --num_gpus 8 ", "exec torchrun --nproc_per_node 8 ",
          "env X=1 torchrun --nproc_per_node 8 ", "srun --exclusive torchrun --nproc_per_node 8 "})
    {
        const ImportedJob job = as_recognised(file + start + program);
        CHECK(job.job.world() == 8);
        CHECK(job.job.strategy.zero == 3);
    }
}

TEST_CASE("a script beside the launch neither sizes the job nor sets its variables")
{
    const std::string text =
        "#SBATCH --nodes=4\n#SBATCH --gpus-per-node=8\ncat > stage.sh <<'EOF'\nWIDTH=9\necho\nEOF\n"
        "srun -N 1 --gpus-per-node=1 bash stage.sh\n"
        "srun torchrun --nnodes ${WIDTH:-4} --nproc_per_node 8 t.py --model_name_or_path "
        "llama-2-7b";
    CHECK(as_recognised(text + tuned).job.world() == 32);
}

TEST_CASE("what env and sbatch set is the started script's")
{
    const std::string inner = "cat > train.sh <<'EOF'\ntorchrun --nnodes $NODES --nproc_per_node 8 "
                              "t.py --model_name_or_path llama-2-7b" +
                              tuned + "EOF\n";
    CHECK(as_recognised(inner + "env NODES=2 bash train.sh\n").job.world() == 16);
    CHECK(as_recognised(inner + "sbatch --export=ALL,NODES=3 train.sh\n").job.world() == 24);
}

TEST_CASE("a text that a variable is read from is the arguments")
{
    const ImportedJob job = as_recognised(
        "read -r -d '' rest <<EOF\nopenrlhf.cli.train_sft --pretrain llama-2-7b \\\n"
        "  --micro_train_batch_size 2 --train_batch_size 64 --zero_stage 2 --bf16 \\\n"
        "  --max_len 1024\nEOF\ndeepspeed --num_gpus 8 --module $rest\n");
    CHECK(job.job.training.global_batch == 64);
    CHECK(job.job.strategy.zero == 2);
}

TEST_CASE("what FSDP is told that takes more memory than modelled is flagged")
{
    const ImportedJob job = as_recognised(
        "accelerate launch --num_processes 8 --use_fsdp --fsdp_auto_wrap_policy NO_WRAP "
        "--fsdp_limit_all_gathers false t.py --model_name_or_path llama-2-7b" +
        tuned);
    CHECK(says(job.notes.flagged, "NO_WRAP: the model is one unit"));
    CHECK(says(job.notes.flagged, "--fsdp-limit-all-gathers false"));
}

TEST_CASE("a task of Beaker starts its command on the GPUs that it asks for")
{
    const ImportedJob job = as_recognised(
        "version: v2\ntasks:\n- name: a\n  replicas: 2\n  command: ['/bin/sh', '-c']\n"
        "  arguments: ['torchrun --nproc_per_node 4 t.py --model_name_or_path llama-2-7b --bf16']\n"
        "  resources:\n    gpuCount: 4\n");
    CHECK(job.job.world() == 8);
}

TEST_CASE("jobs of frameworks that are not modelled are named as such")
{
    CHECK(why_no_job("python3 MaxText/train.py base.yml ici_fsdp_parallelism=64\n") ==
          "is a job of MaxText, which is in JAX and not modelled");
    CHECK(why_no_job("compute_environment: LOCAL_MACHINE\ndistributed_type: FSDP\n")
              .value()
              .starts_with("is a configuration of accelerate"));
}

} // namespace trainyard
