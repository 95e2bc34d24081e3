#pragma once

// The parts of a transformer layer, in the order they run; each adds its steps to the builder.

#include "sim/workload/work_builder.h"

namespace trainyard {

void add_norm(WorkBuilder& builder, std::string_view name);
void add_attention(WorkBuilder& builder); // projections, rotary, core
void add_residual(WorkBuilder& builder, std::string_view name);
void add_mlp(WorkBuilder& builder, std::string_view name, std::int64_t ffn);
void add_experts(WorkBuilder& builder); // router to combination, shared experts included

// The attention core forward again: what selective recompute runs before backward.
WorkList attention_core_forward(const LayerShape& shape);

LayerWork embedding_work(const LayerShape& shape);
LayerWork head_work(const LayerShape& shape);
LayerWork native_work(const NativeLayer& layer, const Partition& partition);

// Bytes kept for backward, tensor by tensor, and the largest that live inside only.
SavedActivations saved_activations(const LayerShape& shape);
Bytes transient_bytes(const LayerShape& shape);

LayerParameters held_parameters(const LayerShape& shape);
Bytes boundary_bytes(const LayerShape& shape); // the tensor handed to the next layer

} // namespace trainyard
