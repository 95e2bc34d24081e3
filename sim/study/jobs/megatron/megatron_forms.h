#pragma once

// Models of Megatron-LM beside the plain decoder: Mamba and hybrids, windows, T5, BERT.

#include "sim/study/jobs/megatron/megatron.h"

namespace trainyard {

// The letters of the layers, stages apart by '|': as they are stated, or as the ratios place them;
// nothing for a model without them.
std::optional<std::string> hybrid_pattern(MegatronReader& reader);

// Layers of those kinds; sizes of stages go to the reader.
void take_hybrid_layers(MegatronReader& reader, const std::string& pattern, Transformer& model);

// Which layers of a model with a window see all keys.
void take_windowless_layers(MegatronReader& reader, Transformer& model);

// Layers with linear attention in place of all but some: Megatron-Core's
// --experimental-attention-variant.
void take_linear_attention(MegatronReader& reader, Transformer& model);

bool is_t5(const MegatronReader& reader);
bool is_bert(MegatronReader& reader);

// The encoder that T5's decoder attends to, as wide as it.
void take_text_encoder(MegatronReader& reader, Transformer& model);

} // namespace trainyard
