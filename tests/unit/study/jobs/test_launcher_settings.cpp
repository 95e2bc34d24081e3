// What launchers say of the jobs that they start: accelerate's settings, ranks, hosts, devices.

#include "tests/unit/study/jobs/importing.h"

using namespace trainyard;
using namespace trainyard::testing;

namespace {

const std::string tuning_program = " train.py --model_name_or_path Qwen/Qwen2.5-7B "
                                   "--per_device_train_batch_size 2 --max_length 512\n";

std::string written(const std::string& name, const std::string& text)
{
    return "cat > " + name + " <<'END'\n" + text + "END\n";
}

ImportedJob started_by(const std::string& text)
{
    JobImportOptions options = on_h100(1);
    options.cluster = {};
    options.cluster.gpu = "h100";
    return imported(JobKind::torchrun, text, options);
}

} // namespace

TEST_CASE("accelerate's configuration of FSDP says how it shards, offloads and recomputes")
{
    const ImportedJob job = started_by(
        written("fsdp.yaml", "distributed_type: FSDP\nmixed_precision: bf16\nnum_machines: 2\n"
                             "num_processes: 8\nfsdp_config:\n  fsdp_sharding_strategy: 2\n"
                             "  fsdp_offload_params: true\n  fsdp_activation_checkpointing: true\n"
                             "  fsdp_state_dict_type: SHARDED_STATE_DICT\n"
                             "  fsdp_backward_prefetch: NO_PREFETCH\n") +
        "accelerate launch --config_file fsdp.yaml" + tuning_program);
    CHECK(job.job.world() == 8); // 2 machines of 4
    CHECK(job.job.strategy.zero == 3);
    CHECK(job.job.strategy.reshard_after_forward == false); // 2 is SHARD_GRAD_OP
    CHECK(job.job.strategy.offload.parameters == OffloadTarget::cpu);
    CHECK(job.job.training.recompute == Recompute::full);
    CHECK(job.job.training.precision == Precision::bf16);
    CHECK(says(job.notes.ignored, "--fsdp-state-dict-type SHARDED_STATE_DICT"));
    CHECK(says(job.notes.flagged, "--fsdp-backward-prefetch NO_PREFETCH"));
}

TEST_CASE("accelerate's settings of DeepSpeed are the configuration it makes of them")
{
    const ImportedJob job =
        started_by(written("ds.yaml", "distributed_type: DEEPSPEED\nnum_processes: 4\n"
                                      "deepspeed_config:\n  zero_stage: 3\n"
                                      "  gradient_accumulation_steps: 4\n"
                                      "  offload_optimizer_device: cpu\n"
                                      "  offload_param_device: none\n") +
                   "accelerate launch --config_file ds.yaml" + tuning_program);
    CHECK(job.job.strategy.zero == 3);
    CHECK(job.job.strategy.offload.optimizer == OffloadTarget::cpu);
    CHECK(job.job.strategy.offload.parameters == OffloadTarget::none);
    CHECK(job.job.training.global_batch == 32); // 2 x 4 x 4
}

TEST_CASE("options of accelerate are said over its configuration, and are none of the program's")
{
    const std::string configuration =
        written("a.yaml", "distributed_type: MULTI_GPU\nnum_processes: 8\nmixed_precision: fp16\n");
    const ImportedJob job =
        started_by(configuration +
                   "accelerate launch --config_file a.yaml --num_processes 8 "
                   "--num_machines 2 --mixed_precision bf16 "
                   "--use_fsdp --fsdp_sharding_strategy HYBRID_SHARD --fsdp_offload_params true "
                   "--fsdp_auto_wrap_policy TRANSFORMER_BASED_WRAP" +
                   tuning_program);
    CHECK(job.job.world() == 8);
    CHECK(job.job.training.precision == Precision::bf16);
    CHECK(job.job.strategy.zero == 3);
    CHECK(job.job.strategy.shard_group == 4); // a node
    CHECK(job.job.strategy.offload.parameters == OffloadTarget::cpu);
    CHECK(job.job.model.name == "Qwen2.5-7B");
    const ImportedJob zero = started_by("python -m accelerate.commands.launch --use_deepspeed "
                                        "--zero_stage 1 --num_processes=2" +
                                        tuning_program);
    CHECK(zero.job.world() == 2);
    CHECK(zero.job.strategy.zero == 1);
}

TEST_CASE("without sharding each GPU has a whole copy, and degrees of a mesh are taken")
{
    const ImportedJob whole = started_by("accelerate launch --num_processes 2 --use_fsdp "
                                         "--fsdp_sharding_strategy NO_SHARD" +
                                         tuning_program);
    CHECK(whole.job.strategy.zero == 0);
    const ImportedJob mesh = started_by("accelerate launch --num_processes 8 --use_fsdp "
                                        "--parallelism_config_tp_size 2" +
                                        tuning_program);
    CHECK(mesh.job.strategy.tp == 2);
    CHECK(mesh.job.dp() == 4);
}

TEST_CASE("the file of Trainer's --fsdp_config says what accelerate's section does")
{
    const ImportedJob job = started_by(
        written("fsdp.json", "{\"transformer_layer_cls_to_wrap\": [\"Block\"], "
                             "\"activation_checkpointing\": true}\n") +
        "torchrun --nproc_per_node 4" + tuning_program.substr(0, tuning_program.size() - 1) +
        " --fsdp 'full_shard auto_wrap' --fsdp_config fsdp.json\n");
    CHECK(job.job.strategy.zero == 3);
    CHECK(job.job.training.recompute == Recompute::full);
    CHECK(job.notes.flagged.empty());
}

TEST_CASE("ranks of all nodes are GPUs, tasks that start launchers are none")
{
    CHECK(started_by("accelerate launch --num_processes 16 --num_machines 4" + tuning_program)
              .job.world() == 16);
    CHECK(started_by("mpirun -np 4 python" + tuning_program).job.world() == 4);
    const ImportedJob several = started_by("mpirun -np 32 python" + tuning_program);
    CHECK(several.job.world() == 32);
    CHECK(says(several.notes.assumed, "32 ranks: 8 on each node"));
    CHECK(started_by("srun -N 2 -n 2 torchrun --nproc_per_node 8" + tuning_program).job.world() ==
          16);
    CHECK(started_by("#SBATCH -N 2\n#SBATCH --gpus=8\nsrun python" + tuning_program).job.world() ==
          8);
    CHECK(started_by("#SBATCH -N 2\n#SBATCH --ntasks-per-node=4\n#SBATCH --gpus-per-task=1\n"
                     "srun python" +
                     tuning_program)
              .job.world() == 8);
    CHECK(started_by("#SBATCH --gres=gpu:a100:4\ntorchrun --nproc_per_node $SLURM_GPUS_ON_NODE" +
                     tuning_program)
              .job.world() == 4);
}

TEST_CASE("hosts of DeepSpeed's launcher are nodes, by its file or by name")
{
    const std::string hosts = written("hosts", "# two\nworker-1 slots=4\nworker-2 slots=4\n");
    CHECK(started_by(hosts + "deepspeed --hostfile hosts" + tuning_program).job.world() == 8);
    CHECK(
        started_by("deepspeed --include worker-0:0,1@worker-1:0,1" + tuning_program).job.world() ==
        4);
    CHECK(started_by("deepspeed --include localhost:5" + tuning_program).job.world() == 1);
}

TEST_CASE("Python alone has the devices that are visible")
{
    CHECK(started_by("CUDA_VISIBLE_DEVICES=3 python" + tuning_program).job.world() == 1);
}

TEST_CASE("sizes of a batch that DeepSpeed's configuration leaves open are its trainer's")
{
    const auto batch = [&](const std::string& sizes) {
        return started_by(
                   written("ds.json", "{\"zero_optimization\": {\"stage\": 2}" + sizes + "}\n") +
                   "deepspeed --num_gpus 4" + tuning_program.substr(0, tuning_program.size() - 1) +
                   " --bf16 --deepspeed ds.json\n")
            .job.training;
    };
    const Training accumulated =
        batch(", \"gradient_accumulation_steps\": 4, \"train_micro_batch_size_per_gpu\": \"auto\"");
    CHECK(accumulated.micro_batch == 2);
    CHECK(accumulated.global_batch == 32); // 2 x 4 x 4
    const Training whole = batch(", \"train_batch_size\": 64");
    CHECK(whole.micro_batch == 2);
    CHECK(whole.global_batch == 64);
    const Training narrower = batch(", \"train_micro_batch_size_per_gpu\": 1");
    CHECK(narrower.micro_batch == 1);
}

TEST_CASE("a stage of ZeRO among the arguments makes the configuration of DeepSpeed")
{
    // OpenRLHF's batches: of a step, and of a pass of each GPU.
    const ImportedJob job = started_by(
        "deepspeed --num_gpus 8 --module openrlhf.cli.train_dpo --pretrain "
        "Qwen/Qwen2.5-7B --train_batch_size 64 --micro_train_batch_size 2 --max_len 1024 "
        "--zero_stage 3 --adam_offload --bf16 --flash_attn --gradient_checkpointing\n");
    CHECK(job.job.strategy.zero == 3);
    CHECK(job.job.strategy.offload.optimizer == OffloadTarget::cpu);
    CHECK(job.scenario.scenario.software.framework == "deepspeed");
    CHECK(job.scenario.scenario.software.attention == AttentionKernel::flash2);
    CHECK(job.job.training.micro_batch == 2);
    CHECK(job.job.training.global_batch == 64);
    CHECK(says(job.notes.flagged, "openrlhf.cli.train_dpo: passes over pairs"));
    const std::string open = "deepspeed main.py --model_name_or_path Qwen/Qwen2.5-7B "
                             "--per_device_train_batch_size 1 --zero_stage $STAGE\n";
    JobImportOptions options = on_h100(1);
    CHECK(refusal_about("--zero-stage", JobKind::torchrun, open, options).line == 1);
}

TEST_CASE("ColossalAI's stage of ZeRO is its own")
{
    const ImportedJob job =
        started_by("colossalai run --nproc_per_node 8 train.py --plugin hybrid --zero_stage 1 "
                   "--pp_size 2 --mixed_precision bf16 --model_name Qwen/Qwen2.5-7B "
                   "--batch_size 2\n");
    CHECK(job.job.strategy.zero == 1);
    CHECK(job.job.strategy.pp == 2);
    CHECK(job.scenario.scenario.software.framework == "torch-ddp");
}

TEST_CASE("a script that has a value for an argument which is not given takes it")
{
    const ImportedJob job =
        started_by("STAGE=$1\nif [ \"$STAGE\" == \"\" ]; then\n  STAGE=2\nfi\n"
                   "deepspeed --num_gpus 2" +
                   tuning_program.substr(0, tuning_program.size() - 1) + " --zero_stage $STAGE\n");
    CHECK(job.job.strategy.zero == 2);
    CHECK(says(job.notes.assumed, "line 2: $1 is empty: no argument is given"));
}

TEST_CASE("where nothing is known to start a job, what may run is taken to")
{
    const std::string line = "torchrun --nproc_per_node 2" + tuning_program;
    const ImportedJob loop = started_by("for seed in $SEEDS; do\n  if [ -f data/$seed ]; then\n  " +
                                        line + "  fi\ndone\n");
    CHECK(loop.job.world() == 2);
    CHECK(says(loop.notes.assumed, "line 1: a loop is run once, seed as it stands"));
    CHECK(says(loop.notes.assumed, "is taken to hold"));
    CHECK(started_by("train() {\n" + line + "}\n").job.world() == 2);
    // Nothing is taken where a launch is known to run.
    const ImportedJob known = started_by("for seed in $SEEDS; do\ntorchrun --nproc_per_node 8" +
                                         tuning_program + "done\n" + line);
    CHECK(known.job.world() == 2);
}

TEST_CASE("places of a template are values, not files that a shell would read")
{
    const ImportedJob job =
        started_by("torchrun --nproc_per_node 2 train.py --output_dir <out/dir> "
                   "--model_name_or_path Qwen/Qwen2.5-7B --per_device_train_batch_size 2\n");
    CHECK(job.job.training.micro_batch == 2);
    CHECK(says(job.notes.ignored, "--output-dir <out/dir>"));
}

TEST_CASE("logits that are made a part at a time are told, and kept as they turn into gradients")
{
    const ImportedJob job = started_by("torchrun --nproc_per_node 2" +
                                       tuning_program.substr(0, tuning_program.size() - 1) +
                                       " --use_liger_kernel True\n");
    CHECK(job.scenario.scenario.software.loss == LossKernel::in_place);
    CHECK(says(job.notes.flagged, "logits are made a part at a time"));
}

TEST_CASE("a list of matrices may stand in brackets")
{
    const ImportedJob job = started_by(
        "torchrun --nproc_per_node 2" + tuning_program.substr(0, tuning_program.size() - 1) +
        " --lora_r 8 --lora_target_modules '[q_proj, \"o_proj\"]'\n");
    REQUIRE(job.job.training.lora);
    CHECK(job.job.training.lora->targets ==
          std::vector{AdapterTarget::q_proj, AdapterTarget::o_proj});
}

TEST_CASE("weights loaded in 16 bit compute in it, and a tower of images is flagged")
{
    const ImportedJob job = started_by(
        "torchrun --nproc_per_node 2" + tuning_program.substr(0, tuning_program.size() - 1) +
        " --torch_dtype bfloat16 --vision_tower clip --image_folder pictures "
        "--checkpoint_dir out --lr 1e-4\n");
    CHECK(job.job.training.precision == Precision::bf16);
    CHECK(says(job.notes.flagged, "--torch-dtype bfloat16: parameters and states"));
    CHECK(says(job.notes.flagged, "--vision-tower clip"));
    CHECK(!says(job.notes.flagged, "--image-folder"));
    CHECK(!says(job.notes.flagged, "--checkpoint-dir"));
    CHECK(job.warnings.empty());
}

TEST_CASE("Llama Cookbook's settings of FSDP stand on the command line, and it has its defaults")
{
    const std::string line = "torchrun --nproc_per_node 4 finetuning.py --enable_fsdp --model_name "
                             "meta-llama/Llama-2-7b-hf --use_peft --peft_method lora";
    const ImportedJob job = started_by(line + " --quantization 4bit\n");
    CHECK(job.job.strategy.zero == 3);
    CHECK(job.job.training.precision == Precision::bf16);
    CHECK(job.job.training.recompute == Recompute::full);
    CHECK(job.job.training.sequence_length == 4096);
    CHECK(job.job.training.global_batch == 16); // 4 x 4
    CHECK(says(job.notes.flagged, "--quantization 4bit"));
    const ImportedJob pure = started_by(
        line + " --context_length 512 --fsdp_config.pure_bf16 --fsdp_config.fsdp_cpu_offload\n");
    CHECK(pure.job.training.sequence_length == 512);
    CHECK(pure.job.strategy.offload.parameters == OffloadTarget::cpu);
    CHECK(says(pure.notes.flagged, "--fsdp-config.pure-bf16: parameters and states"));
}

TEST_CASE("a configuration that holds the job and is not there is named")
{
    const std::string text =
        "torchrun --nproc_per_node 8 -m torchtitan.train --job.config_file mine.toml\n";
    CHECK(refusal_of(JobKind::torchrun, text, on_h100(1)).message ==
          "--job.config-file mine.toml: holds the job, and is not there");
}

TEST_CASE("matrices of adapters go by other names too, and those trained whole beside are flagged")
{
    const std::string line =
        "torchrun --nproc_per_node 2" + tuning_program.substr(0, tuning_program.size() - 1);
    const ImportedJob job = started_by(line + " --lora_rank 8 --trainable q_proj,k_proj "
                                              "--modules_to_save embed_tokens,lm_head\n");
    REQUIRE(job.job.training.lora);
    CHECK(job.job.training.lora->targets ==
          std::vector{AdapterTarget::q_proj, AdapterTarget::k_proj});
    CHECK(says(job.notes.flagged, "--modules-to-save embed_tokens,lm_head"));
    CHECK(!started_by(line + " --lora_enable False --lora_r 8\n").job.training.lora);
    CHECK(started_by(line + " --lora_enable True\n").job.training.lora);
}

TEST_CASE("a stage among the arguments counts where DeepSpeed's file is not there")
{
    const ImportedJob job = started_by(
        "torchrun --nproc_per_node 2" + tuning_program.substr(0, tuning_program.size() - 1) +
        " --ds_config conf/example.json --ds_stage 1 --bf16 --config_overrides n_layer=4\n");
    CHECK(job.job.strategy.zero == 1);
    CHECK(says(job.notes.flagged, "--config-overrides n_layer=4"));
}
