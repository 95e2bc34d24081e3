// Arguments of Megatron-LM and its forks that no field of a scenario stands for: those that change
// neither the time of a step nor its memory, and how the others are told from what is not known.

#include "sim/study/jobs/job_draft.h"
#include "sim/study/jobs/megatron/megatron.h"

#include <algorithm>
#include <array>

namespace trainyard {
namespace {

constexpr std::string_view of_learning = "of the learning, not of the time of a step";
constexpr std::string_view of_data = "of the data, not of the time of a step";
constexpr std::string_view of_files = "of checkpoints and logs, which are not part of a step";
constexpr std::string_view of_numbers = "of the numerics, within the noise of a step's time";
constexpr std::string_view as_modelled = "as the kernels of the framework's class already are";
constexpr std::string_view of_rollouts = "of the generation, which is not modelled";
constexpr std::string_view fused_anyway = "modelled with the fused kernel, which takes less time";

// By the beginning of the name.
constexpr std::array arguments_aside{
    Aside{"--lr", of_learning},
    Aside{"--min-lr", of_learning},
    Aside{"--weight-decay", of_learning},
    Aside{"--start-weight-decay", of_learning},
    Aside{"--end-weight-decay", of_learning},
    Aside{"--adam-", of_learning},
    Aside{"--sgd-", of_learning},
    Aside{"--clip-grad", of_learning},
    Aside{"--train-iters", of_learning},
    Aside{"--train-samples", of_learning},
    Aside{"--init-method", of_learning},
    Aside{"--seed", of_learning},
    Aside{"--override-lr-scheduler", of_learning},
    Aside{"--override-opt", of_learning},
    Aside{"--no-decay-norm-bias", of_learning},
    Aside{"--apply-wd-to-qk-layernorm", of_learning},
    Aside{"--head-lr-mult", of_learning},
    Aside{"--decoupled-", of_learning},
    Aside{"--warmup", of_learning},
    Aside{"--use-gpt-neox-", of_learning},
    Aside{"--mtp-loss-scaling-factor", of_learning},
    Aside{"--kl-", of_learning},
    Aside{"--use-kl-loss", of_learning},
    Aside{"--entropy-", of_learning},
    Aside{"--eps-clip", of_learning},
    Aside{"--bert-no-binary-head", of_learning},
    Aside{"--loss-scale", of_learning},
    Aside{"--initial-loss-scale", of_learning},
    Aside{"--min-loss-scale", of_learning},
    Aside{"--hysteresis", of_learning},
    Aside{"--moe-aux-loss-coeff", of_learning},
    Aside{"--moe-z-loss-coeff", of_learning},
    Aside{"--moe-router-load-balancing-type", of_learning},
    Aside{"--moe-router-score-function", of_numbers},
    Aside{"--moe-router-pre-softmax", of_numbers},
    Aside{"--moe-router-topk-scaling-factor", of_numbers},
    Aside{"--moe-router-enable-expert-bias", of_numbers},
    Aside{"--moe-router-bias-update-rate", of_learning},
    Aside{"--data-", of_data},
    Aside{"--dataloader-type", of_data},
    Aside{"--split", of_data},
    Aside{"--train-data-path", of_data},
    Aside{"--valid-data-path", of_data},
    Aside{"--mock-data", of_data},
    Aside{"--tokenizer-", of_data},
    Aside{"--vocab-file", of_data},
    Aside{"--merge-file", of_data},
    Aside{"--num-workers", of_data},
    Aside{"--no-create-attention-mask-in-dataloader", of_data},
    Aside{"--num-dataset-builder-threads", of_data},
    Aside{"--reset-", of_data},
    Aside{"--no-new-tokens", of_data},
    Aside{"--short-seq-prob", of_data},
    Aside{"--sample-rate", of_data},
    Aside{"--dataset", of_data},
    Aside{"--prompt-data", of_data},
    Aside{"--rampup-batch-size", "of the first steps: the batch behind the ramp is modelled"},
    Aside{"--eod-mask-loss", of_data},
    Aside{"--save", of_files},
    Aside{"--load", of_files},
    Aside{"--hf-checkpoint", of_files},
    Aside{"--ref-load", of_files},
    Aside{"--no-load", of_files},
    Aside{"--no-save", of_files},
    Aside{"--ckpt-", of_files},
    Aside{"--dist-ckpt", of_files},
    Aside{"--use-dist-ckpt", of_files},
    Aside{"--auto-detect-ckpt-format", of_files},
    Aside{"--async-save", of_files},
    Aside{"--log-", of_files},
    Aside{"--tensorboard", of_files},
    Aside{"--wandb", of_files},
    Aside{"--timing-log", of_files},
    Aside{"--eval-", of_files},
    Aside{"--exit-", of_files},
    Aside{"--profile", of_files},
    Aside{"--finetune", of_files},
    Aside{"--verify-checkpoint", of_files},
    Aside{"--use-checkpoint-", of_files},
    Aside{"--use-persistent-ckpt", of_files},
    Aside{"--no-initialization", of_files},
    Aside{"--perform-initialization", of_files},
    Aside{"--use-cpu-initialization", of_files},
    Aside{"--norm-epsilon", of_numbers},
    Aside{"--layernorm-epsilon", of_numbers},
    Aside{"--mup-", of_numbers},
    Aside{"--use-mup", of_numbers},
    Aside{"--no-query-key-layer-scaling", of_numbers},
    Aside{"--apply-query-key-layer-scaling", of_numbers},
    Aside{"--attention-scaling", of_numbers},
    Aside{"--softmax-scale", of_numbers},
    Aside{"--norm-topk-prob", of_numbers},
    Aside{"--moe-input-jitter-eps", of_numbers},
    Aside{"--input-jitter", of_numbers},
    Aside{"--seq-aux", of_numbers},
    Aside{"--moe-token-drop-policy", of_numbers},
    Aside{"--shrink-", of_numbers},
    Aside{"--beta-", of_numbers},
    Aside{"--rope-scaling", of_numbers},
    Aside{"--rope-theta", of_numbers},
    Aside{"--rotary-base", of_numbers},
    Aside{"--rotary-percent", of_numbers},
    Aside{"--rotary-scaling-factor", of_numbers},
    Aside{"--rotary-seq-len-interpolation-factor", of_numbers},
    Aside{"--use-rope-scaling", of_numbers},
    Aside{"--rope-scaling-factor", of_numbers},
    Aside{"--mscale", of_numbers},
    Aside{"--attention-softmax-in-fp32", of_numbers},
    Aside{"--apply-layernorm-1p", of_numbers},
    Aside{"--fp8-margin", of_numbers},
    Aside{"--fp8-interval", of_numbers},
    Aside{"--fp8-amax", of_numbers},
    Aside{"--no-masked-softmax-fusion", "of effect with unfused attention alone"},
    Aside{"--no-bias-", fused_anyway},
    Aside{"--bias-", as_modelled},
    Aside{"--no-rope-fusion", fused_anyway},
    Aside{"--apply-rope-fusion", as_modelled},
    Aside{"--no-gradient-accumulation-fusion", fused_anyway},
    Aside{"--cross-entropy", as_modelled},
    Aside{"--use-mcore-models", as_modelled},
    Aside{"--use-fused-", as_modelled},
    Aside{"--DDP-impl", as_modelled},
    Aside{"--persist-layer-norm", as_modelled},
    Aside{"--no-persist-layer-norm", as_modelled},
    Aside{"--deepspeed-activation-checkpointing", as_modelled},
    Aside{"--moe-router-padding-for-fp8", as_modelled},
    Aside{"--moe-router-force-load-balancing", as_modelled},
    Aside{"--gemm-gradient-accumulation-fusion", as_modelled},
    Aside{"--gradient-accumulation-fusion", as_modelled},
    Aside{"--transformer-impl", "kernels beside attention are those of the framework's class"},
    Aside{"--moe-grouped-gemm", as_modelled},
    Aside{"--moe-permute-fusion", as_modelled},
    Aside{"--moe-router-fusion", as_modelled},
    Aside{"--moe-router-dtype", as_modelled},
    Aside{"--manual-gc", as_modelled},
    Aside{"--no-async-tensor-model-parallel-allreduce", as_modelled},
    Aside{"--distributed-backend", as_modelled},
    Aside{"--rollout-", of_rollouts},
    Aside{"--over-sampling-", of_rollouts},
    Aside{"--n-samples-per", of_rollouts},
    Aside{"--sglang-", of_rollouts},
    Aside{"--vllm-", of_rollouts},
};

// Parts of a step and of its memory, as names of arguments have them: "--triangle-attn",
// "--checkpointed-activations", "--deepnorm".
constexpr std::array<std::string_view, 42> parts_of_a_step{
    "attention", "attn",  "activation", "checkpoint", "recompute", "parallel", "vocab",
    "glu",       "norm",  "tie",        "expert",     "moe",       "head",     "layer",
    "batch",     "seq",   "pipe",       "stage",      "mamba",     "deltanet", "linear",
    "hidden",    "ffn",   "mlp",        "mtp",        "window",    "offload",  "shard",
    "zero",      "fsdp",  "overlap",    "precision",  "fp8",       "fp16",     "fp32",
    "bf16",      "dtype", "dropout",    "position",   "latent",    "lora",     "memory"};

bool is_of_a_step(std::string_view word)
{
    return std::ranges::any_of(parts_of_a_step, [&](std::string_view part) {
        return word.starts_with(part) || word.ends_with(part);
    });
}

} // namespace

std::optional<std::string_view> megatron_aside(std::string_view name)
{
    return why_aside(arguments_aside, name);
}

bool names_a_part_of_a_step(std::string_view name)
{
    while (!name.empty()) {
        const std::size_t end = std::min(name.find_first_of("-."), name.size());
        if (is_of_a_step(name.substr(0, end)))
            return true;
        name = name.substr(std::min(end + 1, name.size()));
    }
    return false;
}

} // namespace trainyard
