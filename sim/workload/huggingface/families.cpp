// All families of Hugging Face models.

#include "sim/base/words.h"
#include "sim/workload/huggingface/family.h"

#include <algorithm>

namespace trainyard {
namespace {

std::vector<HfFamily> families()
{
    std::vector<HfFamily> all;
    for (const auto& kin : {hf_llama_families(), hf_hybrid_families(), hf_gpt_families(),
                            hf_encoder_families(), hf_seq2seq_families()})
        for (const HfFamily& alike : kin)
            for (const std::string_view model_type : split(alike.model_type, ' '))
                all.push_back({model_type, alike.base, alike.refine});
    return all;
}

const std::vector<HfFamily>& all_families()
{
    static const std::vector<HfFamily> all = families();
    return all;
}

} // namespace

Transformer llama_like()
{
    return {};
}

Transformer gpt_like()
{
    Transformer t;
    t.gated_mlp = false;
    t.linear_bias = true;
    t.tied_embeddings = true;
    t.norm = NormKind::layer_norm;
    t.position = PositionKind::learned;
    t.activation = Activation::gelu;
    return t;
}

void refine_biases(HfConfig& config, Transformer& t)
{
    t.attention_bias = t.attention_output_bias = config.flag("attention_bias", false);
    t.mlp_bias = config.flag("mlp_bias", false);
}

void refine_dropout(HfConfig& config, Transformer& t, const std::vector<std::string>& keys,
                    double otherwise)
{
    double largest = 0;
    for (const std::string& key : keys)
        largest = std::max(largest, config.share(key, otherwise));
    t.dropout = largest > 0;
}

const HfFamily* find_hf_family(std::string_view model_type)
{
    for (const HfFamily& family : all_families())
        if (family.model_type == model_type)
            return &family;
    return nullptr;
}

std::vector<std::string> hf_family_names()
{
    std::vector<std::string> names;
    for (const HfFamily& family : all_families())
        names.emplace_back(family.model_type);
    return names;
}

} // namespace trainyard
