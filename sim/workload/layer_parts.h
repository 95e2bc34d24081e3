#pragma once

// The parts of a transformer layer, in the order they run; each adds its steps to the builder.

#include "sim/workload/work_builder.h"

namespace trainyard {

void add_norm(WorkBuilder& builder, std::string_view name);
void add_attention(WorkBuilder& builder);          // projections, rotary, core
void add_latent_projections(WorkBuilder& builder); // queries, keys and values of latent attention
// Final norm, logits and loss of `tokens` tokens.
void add_logits(WorkBuilder& builder, std::int64_t tokens);
std::int64_t vocabulary_per_rank(const LayerShape& shape);
// Tokens that a rank looks up and makes logits of.
std::int64_t vocabulary_tokens(const LayerShape& shape);
Bytes logits_kept(const LayerShape& shape, std::int64_t tokens); // by the logits and the loss

// Completes the work of a layer to that of a prediction layer.
void add_prediction(LayerWork& layer, const LayerShape& shape);

void add_context_attention(WorkBuilder& builder); // the core and what CP exchanges around it
void add_attention_core(WorkBuilder& builder);
void add_ring_attention(WorkBuilder& builder);
void add_residual(WorkBuilder& builder, std::string_view name);
void add_mlp(WorkBuilder& builder, std::string_view name, std::int64_t ffn);
void add_mlp_up(WorkBuilder& builder, std::string_view name, std::int64_t ffn);
void add_mlp_down(WorkBuilder& builder, std::string_view name, std::int64_t ffn);
void add_experts(WorkBuilder& builder); // router to combination, shared experts included

// The attention core forward again: what selective recompute runs before backward.
WorkList attention_core_forward(const LayerShape& shape);

// Kernels that one adapter adds to a layer.
inline constexpr int adapter_launches_forward = 4;
inline constexpr int adapter_launches_backward = 6;
// The core a rank attends to at once: its queries, every key; heads as CP leaves them.
AttentionShape attention_shape(const LayerShape& shape);
Kernel fused_attention(const LayerShape& layer, const AttentionShape& shape, bool backward);
Kernel attention_delta(const LayerShape& shape);

// Kernels that ring attention issues each way beyond those of one core.
int ring_launches(const LayerShape& shape);

LayerWork embedding_work(const LayerShape& shape);
LayerWork head_work(const LayerShape& shape);
LayerWork native_work(const NativeLayer& layer, const Partition& partition);

// Bytes kept for backward, tensor by tensor, and the largest that live inside only.
SavedActivations saved_activations(const LayerShape& shape);
Bytes transient_bytes(const LayerShape& shape);

void set_parameters(LayerWork& work, const LayerShape& shape);
Bytes boundary_bytes(const LayerShape& shape); // the tensor handed to the next layer

} // namespace trainyard
