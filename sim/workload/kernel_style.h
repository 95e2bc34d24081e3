#pragma once

// Which kernels a framework runs for a layer: what a software class says and layer_work() obeys.

#include "sim/base/field_names.h"

#include <cstdint>

namespace trainyard {

enum class AttentionKernel : std::uint8_t {
    unfused,    // batched GEMMs and passes over the s x s square
    sdpa,       // PyTorch's scaled_dot_product_attention before 2.5
    sdpa_cudnn, // the same since 2.5, which hands over to cuDNN on Hopper and later
    flash1,
    flash2,
    triton,
    cudnn // as Transformer Engine and JAX call it
};

struct KernelStyle {
    AttentionKernel attention = AttentionKernel::flash2;
    bool causal_skips = true;    // fused attention leaves the masked half out
    bool sequence_first = false; // tokens of a micro-batch's sequences lie side by side: [s, b, h]
    bool fused_elementwise = true; // bias and activation in one kernel; else the activation's input
                                   // crosses memory twice more

    // Unfused attention: times the square of scores crosses memory in all (batched GEMMs, scale,
    // mask, softmax, dropout).
    double square_passes_forward = 9;
    double square_passes_backward = 11;

    // Kernels issued per transformer layer; 0: one for each kernel listed. Communications are
    // issued on top.
    int layer_launches_forward = 0;
    int layer_launches_backward = 0;
    int moe_launches_forward = 0; // more in an MoE layer (router, permutation, experts)
    int moe_launches_backward = 0;
    int fp8_launches = 0;   // more per layer and direction with fp8 (casts, scales)
    int head_launches = 12; // embedding, final norm, logits and loss together, each direction

    // Device memory crossed by the loss for each logit.
    double loss_bytes_per_logit_forward = 8;
    double loss_bytes_per_logit_backward = 6;
    bool loss_in_place = false; // one kernel writes the logits' gradient over the logits; else an
                                // fp32 softmax is kept beside it

    // Backward, TP collectives of an input's gradient run beside the weight gradient's GEMM.
    bool tp_beside_weight_gradient = false;

    // MoE dispatch sends a token once to a node where several of its experts live (DeepEP).
    bool one_copy_per_node = false;

    bool operator==(const KernelStyle&) const = default;
};

template <>
std::vector<EnumName<AttentionKernel>> enum_names<AttentionKernel>();
template <>
const FieldTable<KernelStyle>& fields_of<KernelStyle>();

} // namespace trainyard
