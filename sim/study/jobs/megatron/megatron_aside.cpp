// Arguments of Megatron-LM and its forks that no field of a scenario stands for: those that change
// neither the time of a step nor its memory.

#include "sim/study/jobs/job_draft.h"
#include "sim/study/jobs/megatron/megatron.h"

#include <array>

namespace trainyard {
namespace {

constexpr std::string_view as_modelled = "as the kernels of the framework's class already are";
constexpr std::string_view fused_anyway = "modelled with the fused kernel, which takes less time";

// By the beginning of the name.
constexpr std::array arguments_aside{
    Aside{of_learning,
          "--lr --min-lr --weight-decay --start-weight-decay --end-weight-decay --adam- --sgd- "
          "--clip-grad --train-iters --train-samples --init-method --seed --override-lr-scheduler "
          "--override-opt --no-decay-norm-bias --apply-wd-to-qk-layernorm --head-lr-mult "
          "--decoupled- --warmup --use-gpt-neox- --mtp-loss-scaling-factor --kl- --use-kl-loss "
          "--entropy- --eps-clip --bert-no-binary-head --loss-scale --lora-alpha --lora-dropout "
          "--max-epochs --initial-loss-scale --min-loss-scale --hysteresis --moe-aux-loss-coeff "
          "--moe-z-loss-coeff --moe-router-load-balancing-type --moe-router-bias-update-rate"},
    Aside{of_numbers,
          "--moe-router-score-function --moe-router-pre-softmax --moe-router-topk-scaling-factor "
          "--moe-router-enable-expert-bias --norm-epsilon --layernorm-epsilon --mup- --use-mup "
          "--no-query-key-layer-scaling --apply-query-key-layer-scaling --attention-scaling "
          "--softmax-scale --norm-topk-prob --moe-input-jitter-eps --input-jitter --seq-aux "
          "--moe-token-drop-policy --shrink- --beta- --rope-scaling --rope-theta --rotary-base "
          "--rotary-percent --rotary-scaling-factor --rotary-seq-len-interpolation-factor "
          "--use-rope-scaling --rope-scaling-factor --mscale --attention-softmax-in-fp32 "
          "--apply-layernorm-1p --fp8-margin --fp8-interval --fp8-amax"},
    Aside{of_data,
          "--data- --dataloader-type --split --train-data-path --valid-data-path --mock-data "
          "--tokenizer- --vocab-file --merge-file --num-workers "
          "--no-create-attention-mask-in-dataloader --num-dataset-builder-threads --reset- "
          "--no-new-tokens --short-seq-prob --sample-rate --dataset --prompt-data --eod-mask-loss"},
    Aside{"of the first steps: the batch behind the ramp is modelled", "--rampup-batch-size"},
    Aside{of_files,
          "--save --load --hf-checkpoint --ref-load --no-load --no-save --ckpt- --dist-ckpt "
          "--use-dist-ckpt --auto-detect-ckpt-format --async-save --log- --tensorboard --wandb "
          "--timing-log --eval- --exit- --profile --finetune --verify-checkpoint "
          "--use-checkpoint- --use-persistent-ckpt --no-initialization --perform-initialization "
          "--use-cpu-initialization"},
    Aside{"of effect with unfused attention alone", "--no-masked-softmax-fusion"},
    Aside{fused_anyway, "--no-bias- --no-rope-fusion --no-gradient-accumulation-fusion"},
    Aside{as_modelled,
          "--bias- --apply-rope-fusion --cross-entropy --use-mcore-models --use-fused- --DDP-impl "
          "--persist-layer-norm --no-persist-layer-norm --deepspeed-activation-checkpointing "
          "--moe-router-padding-for-fp8 --moe-router-force-load-balancing "
          "--gemm-gradient-accumulation-fusion --gradient-accumulation-fusion --moe-grouped-gemm "
          "--moe-permute-fusion --moe-router-fusion --moe-router-dtype --manual-gc "
          "--no-async-tensor-model-parallel-allreduce --distributed-backend"},
    Aside{"kernels beside attention are those of the framework's class", "--transformer-impl"},
    Aside{of_rollouts, "--rollout- --over-sampling- --n-samples-per --sglang- --vllm-"},
};

} // namespace

std::optional<std::string_view> megatron_aside(std::string_view name)
{
    return why_aside(arguments_aside, name);
}

} // namespace trainyard
