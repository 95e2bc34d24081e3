// Arguments in the words of Hugging Face's Trainer and its kin that change neither the time of a
// step nor its memory.

#include "sim/study/jobs/job_draft.h"
#include "sim/study/jobs/torch/trainer_arguments.h"

#include <array>

namespace trainyard {
namespace {

constexpr std::string_view of_evaluation = "of the evaluation, which is not part of a step";
constexpr std::string_view of_loading = "of the weights as they are loaded";

// By the beginning of the name.
constexpr std::array trainer_asides{
    Aside{of_learning,
          "--lr --learning-rate --min-lr --max-lr --weight-decay --warmup- --adam-beta --adam-eps "
          "--seed --num-train-epochs --num-epochs --epochs --do-train --max-steps --total-epochs "
          "--max-epochs --n-epochs --num-epoch --max-duration --reduce-loss --gradient-clipping "
          "--max-norm --lora-alpha --lora-dropout --lora-bias --loraplus --peft-use-rslora "
          "--max-grad-norm --disable-dropout"},
    Aside{of_data,
          "--data-path --dataset --dataloader- --train-file --validation- --preprocess "
          "--lazy-preprocess --val-files --data-split --data-seed --data-files --prompt-key "
          "--response-key --input-key --output-key --apply-chat-template --template "
          "--use-fast-tokenizer --use-slow-tokenizer --remove-unused-columns --overwrite-cache "
          "--group-by-length --tokenizer --num-workers"},
    Aside{of_files,
          "--output-dir --overwrite-output-dir --logging- --log- --report-to --wandb --run-name "
          "--exp-name --experiment-name --project-name --logger --swanlab --use-wandb "
          "--with-tracking --plot-loss --load-best-model-at-end --load-checkpoint "
          "--checkpointing-steps --save- --resume-from-checkpoint --auto-resume-from-checkpoints "
          "--fsdp-state-dict-type --state-dict-type"},
    Aside{of_loading,
          "--low-cpu-mem-usage --low-cpu-fsdp --fsdp-sync-module-states "
          "--fsdp-cpu-ram-efficient-loading --torch-dtype --model-revision --trust-remote-code "
          "--cache-dir --dtype"},
    Aside{"of how it is done, not of what", "--gradient-checkpointing-kwargs"},
    Aside{"sequences are modelled as long as they may be",
          "--batching-strategy --pad-to-sequence-len"},
    Aside{of_rollouts, "--use-cache --vllm-"},
    Aside{"all else is frozen beside adapters, as modelled", "--only-optimize-lora"},
    Aside{of_evaluation,
          "--eval- --evaluation-strategy --do-eval --metric-for-best-model --greater-is-better "
          "--device-eval- --per-device-eval-batch-size --val-batch-size"},
    Aside{"what the other degrees leave of the GPUs", "--dp-size"},
    Aside{sharded_alone,
          "--transformer-layer-cls --fsdp-transformer-layer-cls --fsdp-auto-wrap-policy "
          "--reshard-after-forward --fsdp-reshard-after-forward --fsdp-limit-all-gathers "
          "--fsdp-version"},
    Aside{"of weights in fewer bits, which are told elsewhere", "--bnb-4bit-"},
    Aside{"of the numerics", "--original-max-position-embeddings"},
};

} // namespace

std::optional<std::string_view> trainer_aside(std::string_view name)
{
    return why_aside(trainer_asides, name);
}

} // namespace trainyard
