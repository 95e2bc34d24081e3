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
            .field("head_launches", &S::head_launches,
                   {.help = "kernels of embedding, final norm, logits and loss, each direction",
                    .min = 0})
            .field("loss_bytes_per_logit_forward", &S::loss_bytes_per_logit_forward,
                   {.help = "device memory the loss crosses per logit, forward", .min = 0})
            .field("loss_bytes_per_logit_backward", &S::loss_bytes_per_logit_backward,
                   {.help = "device memory the loss crosses per logit, backward", .min = 0})
            .field("loss_in_place", &S::loss_in_place,
                   {.help = "the loss writes the logits' gradient over the logits and keeps no "
                            "fp32 softmax"})
            .field("tp_beside_weight_gradient", &S::tp_beside_weight_gradient,
                   {.help = "backward TP collectives run beside the weight gradient's GEMM"})
            .field("one_copy_per_node", &S::one_copy_per_node,
                   {.help = "MoE dispatch sends a token once to each node it goes to"});
    return table;
}

} // namespace trainyard
