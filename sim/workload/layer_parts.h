#pragma once

// The parts of a transformer layer, in the order they run; each adds its steps to the builder.

#include "sim/workload/work_builder.h"

namespace trainyard {

// They go with the part whose kernels have that use.
void add_norm(WorkBuilder& builder, std::string_view name, KernelUse use);
void add_attention(WorkBuilder& builder); // projections, rotary, core
// Of the matrices that make compressed keys (DeepSeek-V4).
std::int64_t compressor_columns(const Transformer& model);
void add_latent_projections(WorkBuilder& builder); // queries, keys and values of latent attention
// Final norm, logits and loss of `tokens` tokens.
void add_logits(WorkBuilder& builder, std::int64_t tokens);
bool cuts_vocabulary(const LayerShape& shape); // over the TP group
std::int64_t vocabulary_per_rank(const LayerShape& shape);
// Tokens that a rank looks up and makes logits of.
std::int64_t vocabulary_tokens(const LayerShape& shape);

// Completes the work of a layer to that of a prediction layer.
void add_prediction(LayerWork& layer, const LayerShape& shape);

void add_context_attention(WorkBuilder& builder); // the core and what CP exchanges around it
void add_attention_core(WorkBuilder& builder);
void add_ring_attention(WorkBuilder& builder);
void add_residual(WorkBuilder& builder, std::string_view name, KernelUse use);
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

std::vector<LayerTensor> transformer_tensors(const LayerShape& shape);
std::vector<LayerTensor> embedding_tensors(const LayerShape& shape);
std::vector<LayerTensor> head_tensors(const LayerShape& shape, std::int64_t tokens);
std::vector<LayerTensor> native_tensors(Bytes kept, Bytes output);
// Of these.
SavedActivations kept_bytes(const std::vector<LayerTensor>& tensors);

void set_parameters(LayerWork& work, const LayerShape& shape);
Bytes boundary_bytes(const LayerShape& shape); // the tensor handed to the next layer

} // namespace trainyard
