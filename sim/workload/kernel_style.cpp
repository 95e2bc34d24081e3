#include "sim/workload/kernel_style.h"

#include "sim/base/fields.h"

namespace trainyard {

template <>
std::vector<EnumName<AttentionKernel>> enum_names<AttentionKernel>()
{
    using enum AttentionKernel;
    return {{unfused, "unfused"}, {sdpa, "sdpa"},     {sdpa_cudnn, "sdpa_cudnn"},
            {flash1, "flash1"},   {flash2, "flash2"}, {triton, "triton"},
            {cudnn, "cudnn"}};
}

template <>
std::vector<EnumName<GraphedPart>> enum_names<GraphedPart>()
{
    using enum GraphedPart;
    return {{attention, "attention"}, {recurrence, "recurrence"}, {mlp, "mlp"}, {router, "router"}};
}

template <>
std::vector<EnumName<LossKernel>> enum_names<LossKernel>()
{
    using enum LossKernel;
    return {{log_softmax, "log_softmax"},
            {softmax, "softmax"},
            {fused, "fused"},
            {in_place, "in_place"}};
}

template <>
const FieldTable<KernelStyle>& fields_of<KernelStyle>()
{
    using S = KernelStyle;
    static const auto table =
        FieldTable<S>("kernel_style", "Which kernels a framework runs for a layer.")
            .field("attention", &S::attention, {.help = "kernel of the attention core"})
            .field("causal_skips", &S::causal_skips,
                   {.help = "fused attention leaves the masked half out"})
            .field("sequence_first", &S::sequence_first,
                   {.help = "tokens of a micro-batch's sequences lie side by side, [s, b, h]"})
            .field("fused_elementwise", &S::fused_elementwise,
                   {.help = "bias and activation are one kernel"})
            .field("square_passes_forward", &S::square_passes_forward,
                   {.help = "times unfused attention's scores cross memory, forward", .min = 0})
            .field("square_passes_backward", &S::square_passes_backward,
                   {.help = "times unfused attention's scores cross memory, backward", .min = 0})
            .field("layer_launches_forward", &S::layer_launches_forward,
                   {.help = "kernels per layer forward; 0: one for each kernel listed", .min = 0})
            .field("layer_launches_backward", &S::layer_launches_backward,
                   {.help = "kernels per layer backward; 0: one for each kernel listed", .min = 0})
            .field("moe_launches_forward", &S::moe_launches_forward,
                   {.help = "more kernels in an MoE layer, forward", .min = 0})
            .field("moe_launches_backward", &S::moe_launches_backward,
                   {.help = "more kernels in an MoE layer, backward", .min = 0})
            .field("fp8_launches", &S::fp8_launches,
                   {.help = "more kernels per layer and direction with fp8", .min = 0})
            .field("expert_launches", &S::expert_launches,
                   {.help = "kernels per local expert of a product over them; 0: one for all",
                    .min = 0})
            .field("expert_fp8_launches", &S::expert_fp8_launches,
                   {.help = "more of them in narrow formats", .min = 0})
            .field("expert_choice_launches", &S::expert_choice_launches,
                   {.help = "more of them, in time, where an expert's rows differ from pass to "
                            "pass: the library chooses a kernel anew",
                    .min = 0})
            .field("expert_bias_apart", &S::expert_bias_apart,
                   {.help = "biases of experts are added expert by expert in fp32, clamps are "
                            "kernels of their own"})
            .field("counts_on_host", &S::counts_on_host,
                   {.help = "the host waits for the experts' numbers of rows, where nothing drops "
                            "tokens"})
            .field("head_launches", &S::head_launches,
                   {.help = "kernels of embedding, final norm, logits and loss, each direction",
                    .min = 0})
            .field("loss_bytes_per_logit_forward", &S::loss_bytes_per_logit_forward,
                   {.help = "device memory the loss crosses per logit, forward", .min = 0})
            .field("loss_bytes_per_logit_backward", &S::loss_bytes_per_logit_backward,
                   {.help = "device memory the loss crosses per logit, backward", .min = 0})
            .field("loss", &S::loss,
                   {.help = "what the loss keeps: fp32 log-probabilities as PyTorch, an fp32 "
                            "softmax as Megatron, the logits with their gradient beside or in "
                            "place of them"})
            .field("loss_in_place", &S::loss_in_place, {.help = "the same as loss in_place"})
            .field("keeps_gathered_inputs", &S::keeps_gathered_inputs,
                   {.help = "with sequence parallelism, inputs of products are kept gathered; else "
                            "in shards that backward gathers again"})
            .field("tp_beside_weight_gradient", &S::tp_beside_weight_gradient,
                   {.help = "backward TP collectives run beside the weight gradient's GEMM"})
            .field("one_copy_per_node", &S::one_copy_per_node,
                   {.help = "MoE dispatch sends a token once to each node it goes to"})
            .field("graphed", &S::graphed,
                   {.help = "parts of each layer that CUDA graphs capture, where not the step"})
            .field("fused_experts", &S::fused_experts,
                   {.help = "products of experts, their activation and casts are one kernel"});
    return table;
}

} // namespace trainyard
