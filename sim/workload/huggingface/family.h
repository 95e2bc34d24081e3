#pragma once

// Families of Hugging Face models: what each fixes, and how it departs from the common keys.

#include "sim/workload/huggingface/config.h"
#include "sim/workload/model.h"

#include <string_view>

namespace trainyard {

struct HfFamily {
    std::string_view model_type;
    Transformer base; // structure and defaults of the family
    void (*refine)(HfConfig& config, Transformer& model) = nullptr;
};

const HfFamily* find_hf_family(std::string_view model_type); // null when unknown
std::vector<std::string> hf_family_names();

// A family that is not known, told by its keys; says what was taken for granted.
HfFamily unknown_family(HfConfig& config, std::string_view model_type);

// By kin; a model type is that of several families with all else alike, parted by spaces.
std::vector<HfFamily> hf_llama_families();   // RMSNorm or LayerNorm, rotary, gated MLPs
std::vector<HfFamily> hf_hybrid_families();  // layers of several kinds
std::vector<HfFamily> hf_gpt_families();     // LayerNorm, GELU, biases
std::vector<HfFamily> hf_encoder_families(); // BERT's and ViT's kin
std::vector<HfFamily> hf_seq2seq_families(); // encoders in front

// Llama and its kin: RMSNorm, rotary, SwiGLU, no biases. The defaults of Transformer.
Transformer llama_like();
// GPT-2 and its kin: LayerNorm, GELU, biases everywhere.
Transformer gpt_like();

template <class Change>
Transformer changed(Transformer base, Change change)
{
    change(base);
    return base;
}

// Of the MLP, under any of its keys; empty when absent.
std::string activation_name(HfConfig& config);

// "attention_bias" and "mlp_bias", none where they are absent.
void refine_biases(HfConfig& config, Transformer& model);
// Whether any of these shares is above 0.
void refine_dropout(HfConfig& config, Transformer& model, const std::vector<std::string>& keys,
                    double otherwise);

} // namespace trainyard
