#pragma once

// Encoders in front of a model, and the attention to what they made.

#include "sim/workload/parameters.h"
#include "sim/workload/saved_tensors.h"
#include "sim/workload/work_builder.h"

namespace trainyard {

// What an encoder has besides its layers: the matrix that embeds its input, positions, a last norm,
// the projection to the model's width. Its input has no gradient.
std::vector<ParameterTensor> encoder_end_tensors(const Transformer& whole, const LayerKind& kind);
LayerWork encoder_ends_work(const LayerShape& shape);

// Tokens of all encoders together, which cross attention sees.
std::int64_t source_tokens(const Transformer& whole);

// Cross attention of a layer: its own queries, keys and values from what the encoders made; heads
// as the layer's. TP cuts them likewise, CP leaves every rank its own queries and all keys.
std::vector<ParameterTensor> cross_attention_tensors(const Transformer& whole,
                                                     const Transformer& model);
double cross_attention_flops(const Transformer& whole, const Transformer& model,
                             double sequence_length);
void add_cross_attention(WorkBuilder& builder);
std::vector<SavedTensor> cross_attention_saved(const LayerShape& shape);

} // namespace trainyard
