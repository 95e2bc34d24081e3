#pragma once

// Which kernels a framework runs for a layer: what a software class says and layer_work() obeys.

#include "sim/base/field_names.h"

#include <cstdint>
#include <vector>

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

// Parts of a layer that are captured in a CUDA graph of their own.
enum class GraphedPart : std::uint8_t { attention, recurrence, mlp, router };

// What the cross entropy keeps of the logits for backward, and what backward makes of it.
enum class LossKernel : std::uint8_t {
    log_softmax, // PyTorch's cross_entropy of an fp32 copy: fp32 log-probabilities, whose gradient
                 // and that of the copy are fp32 tensors of their own
    softmax,     // an fp32 softmax, into which backward adds (Megatron's, cut over the TP group)
    fused,       // the logits alone; their gradient is a tensor beside them (torch.compile, Triton)
    in_place     // the logits alone, which turn into their gradient (Transformer Engine, Liger)
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
    int fp8_launches = 0; // more per layer and direction with fp8 (casts, scales)
    // Of a product over the rank's experts, for each of them; 0: one kernel for all of them.
    int expert_launches = 0;
    int expert_fp8_launches = 0; // more in narrow formats (casts, scales)
    // More where nothing drops tokens, so that an expert has other rows in each pass: the library
    // chooses a kernel for them anew, which takes as long as so many launches.
    int expert_choice_launches = 0;
    // Biases of experts are added expert by expert in fp32, and a clamp before the activation is a
    // kernel of its own for each half (Megatron-Core's TEGroupedMLP).
    bool expert_bias_apart = false;
    bool counts_on_host = false; // the host reads how many rows each expert got before it goes on
    int head_launches = 12;      // embedding, final norm, logits and loss together, each direction

    // Device memory crossed by the loss for each logit.
    double loss_bytes_per_logit_forward = 8;
    double loss_bytes_per_logit_backward = 6;
    LossKernel loss = LossKernel::softmax;
    bool loss_in_place = false; // the same as loss in_place, in files that do not know `loss`
    LossKernel loss_kernel() const { return loss_in_place ? LossKernel::in_place : loss; }

    // With sequence parallelism the inputs of products cut by columns are kept as they were
    // gathered (DTensor's autograd); else in shards, which backward gathers again (Megatron).
    bool keeps_gathered_inputs = false;

    // Backward, TP collectives of an input's gradient run beside the weight gradient's GEMM.
    bool tp_beside_weight_gradient = false;

    // MoE dispatch sends a token once to a node where several of its experts live (DeepEP).
    bool one_copy_per_node = false;

    // What CUDA graphs capture of each layer, where that is not all of it; the scenario's choice.
    std::vector<GraphedPart> graphed = {};
    // Products of experts, their activation and casts are one kernel each way (the same).
    bool fused_experts = false;

    bool operator==(const KernelStyle&) const = default;
};

template <>
std::vector<EnumName<AttentionKernel>> enum_names<AttentionKernel>();
template <>
std::vector<EnumName<GraphedPart>> enum_names<GraphedPart>();
template <>
std::vector<EnumName<LossKernel>> enum_names<LossKernel>();
template <>
const FieldTable<KernelStyle>& fields_of<KernelStyle>();

} // namespace trainyard
