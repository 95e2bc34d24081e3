// Arguments in the words of Hugging Face's Trainer and its kin that change neither the time of a
// step nor its memory.

#include "sim/study/jobs/job_draft.h"
#include "sim/study/jobs/torch/trainer_arguments.h"

#include <array>

namespace trainyard {
namespace {

constexpr std::string_view learnt = "of the learning, not of the time of a step";
constexpr std::string_view generated = "of the generation, which is not modelled";
constexpr std::string_view evaluated = "of the evaluation, which is not part of a step";
constexpr std::string_view stored = "of checkpoints and logs, which are not part of a step";
constexpr std::string_view wrapped = "each layer is sharded by itself, as modelled";
constexpr std::string_view loaded = "of the weights as they are loaded";

constexpr std::string_view of_the_data = "of the data, not of the time of a step";

// By the beginning of the name.
constexpr std::array trainer_asides{
    Aside{"--lr", learnt},
    Aside{"--learning-rate", learnt},
    Aside{"--min-lr", learnt},
    Aside{"--max-lr", learnt},
    Aside{"--weight-decay", learnt},
    Aside{"--warmup-", learnt},
    Aside{"--adam-beta", learnt},
    Aside{"--adam-eps", learnt},
    Aside{"--seed", learnt},
    Aside{"--num-train-epochs", learnt},
    Aside{"--num-epochs", learnt},
    Aside{"--epochs", learnt},
    Aside{"--do-train", learnt},
    Aside{"--max-steps", learnt},
    Aside{"--total-epochs", learnt},
    Aside{"--max-epochs", learnt},
    Aside{"--n-epochs", learnt},
    Aside{"--num-epoch", learnt},
    Aside{"--max-duration", learnt},
    Aside{"--reduce-loss", learnt},
    Aside{"--gradient-clipping", learnt},
    Aside{"--max-norm", learnt},
    Aside{"--data-path", of_the_data},
    Aside{"--dataset", of_the_data},
    Aside{"--dataloader-", of_the_data},
    Aside{"--train-file", of_the_data},
    Aside{"--validation-", of_the_data},
    Aside{"--preprocess", of_the_data},
    Aside{"--lazy-preprocess", of_the_data},
    Aside{"--val-files", of_the_data},
    Aside{"--data-split", of_the_data},
    Aside{"--data-seed", of_the_data},
    Aside{"--data-files", of_the_data},
    Aside{"--prompt-key", of_the_data},
    Aside{"--response-key", of_the_data},
    Aside{"--input-key", of_the_data},
    Aside{"--output-key", of_the_data},
    Aside{"--apply-chat-template", of_the_data},
    Aside{"--template", of_the_data},
    Aside{"--use-fast-tokenizer", of_the_data},
    Aside{"--use-slow-tokenizer", of_the_data},
    Aside{"--remove-unused-columns", of_the_data},
    Aside{"--overwrite-cache", of_the_data},
    Aside{"--group-by-length", of_the_data},
    Aside{"--tokenizer", of_the_data},
    Aside{"--num-workers", of_the_data},
    Aside{"--output-dir", stored},
    Aside{"--overwrite-output-dir", stored},
    Aside{"--logging-", stored},
    Aside{"--log-", stored},
    Aside{"--report-to", stored},
    Aside{"--wandb", stored},
    Aside{"--run-name", stored},
    Aside{"--exp-name", stored},
    Aside{"--experiment-name", stored},
    Aside{"--project-name", stored},
    Aside{"--logger", stored},
    Aside{"--swanlab", stored},
    Aside{"--use-wandb", stored},
    Aside{"--with-tracking", stored},
    Aside{"--plot-loss", stored},
    Aside{"--load-best-model-at-end", stored},
    Aside{"--load-checkpoint", stored},
    Aside{"--checkpointing-steps", stored},
    Aside{"--low-cpu-mem-usage", loaded},
    Aside{"--low-cpu-fsdp", loaded},
    Aside{"--gradient-checkpointing-kwargs", "of how it is done, not of what"},
    Aside{"--batching-strategy", "sequences are modelled as long as they may be"},
    Aside{"--use-cache", generated},
    Aside{"--lora-alpha", learnt},
    Aside{"--only-optimize-lora", "all else is frozen beside adapters, as modelled"},
    Aside{"--lora-dropout", learnt},
    Aside{"--lora-bias", learnt},
    Aside{"--loraplus", learnt},
    Aside{"--peft-use-rslora", learnt},
    Aside{"--max-grad-norm", learnt},
    Aside{"--disable-dropout", learnt},
    Aside{"--vllm-", generated},
    Aside{"--log-prob-", generated},
    Aside{"--eval-", evaluated},
    Aside{"--evaluation-strategy", evaluated},
    Aside{"--do-eval", evaluated},
    Aside{"--metric-for-best-model", evaluated},
    Aside{"--greater-is-better", evaluated},
    Aside{"--device-eval-", evaluated},
    Aside{"--per-device-eval-batch-size", evaluated},
    Aside{"--val-batch-size", evaluated},
    Aside{"--save-", stored},
    Aside{"--resume-from-checkpoint", stored},
    Aside{"--auto-resume-from-checkpoints", stored},
    Aside{"--fsdp-state-dict-type", stored},
    Aside{"--state-dict-type", stored},
    Aside{"--dp-size", "what the other degrees leave of the GPUs"},
    Aside{"--transformer-layer-cls", wrapped},
    Aside{"--fsdp-transformer-layer-cls", wrapped},
    Aside{"--fsdp-auto-wrap-policy", wrapped},
    Aside{"--reshard-after-forward", wrapped},
    Aside{"--fsdp-reshard-after-forward", wrapped},
    Aside{"--fsdp-limit-all-gathers", wrapped},
    Aside{"--fsdp-sync-module-states", loaded},
    Aside{"--fsdp-cpu-ram-efficient-loading", loaded},
    Aside{"--fsdp-version", wrapped},
    Aside{"--torch-dtype", loaded},
    Aside{"--model-revision", loaded},
    Aside{"--trust-remote-code", loaded},
    Aside{"--cache-dir", loaded},
    Aside{"--dtype", loaded},
    Aside{"--bnb-4bit-", "of weights in fewer bits, which are told elsewhere"},
    Aside{"--pad-to-sequence-len", "sequences are modelled as long as they may be"},
    Aside{"--original-max-position-embeddings", "of the numerics"},
};

} // namespace

std::optional<std::string_view> trainer_aside(std::string_view name)
{
    return why_aside(trainer_asides, name);
}

} // namespace trainyard
