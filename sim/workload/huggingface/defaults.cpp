#include "sim/workload/huggingface/defaults.h"

#include <algorithm>
#include <array>

namespace trainyard {
namespace {

// Sizes by the keys that configs of these families have, and what keys of their own add.
struct FamilyDefaults {
    std::string_view model_type;
    std::int64_t vocabulary;
    std::int64_t hidden;
    std::int64_t ffn;
    std::int64_t layers;
    std::int64_t heads;
    std::int64_t key_heads;
    std::int64_t head_dim = 0;
    std::int64_t window = 0;
    std::int64_t experts = 0;
    std::int64_t experts_per_token = 0;
    std::int64_t expert_ffn = 0;
};

// The configuration classes of Hugging Face transformers 4.57.
constexpr std::array known_defaults{
    FamilyDefaults{"llama", 32000, 4096, 11008, 32, 32, 32},
    FamilyDefaults{"mistral", 32000, 4096, 14336, 32, 32, 8, 0, 4096},
    FamilyDefaults{"mixtral", 32000, 4096, 14336, 32, 32, 8, 0, 0, 8, 2},
    FamilyDefaults{"qwen2", 151936, 4096, 22016, 32, 32, 32},
    FamilyDefaults{"qwen2_vl", 152064, 8192, 29568, 80, 64, 8},
    FamilyDefaults{"qwen2_5_vl", 152064, 8192, 29568, 80, 64, 8},
    FamilyDefaults{"qwen3", 151936, 4096, 22016, 32, 32, 32, 128},
    FamilyDefaults{"qwen3_vl", 151936, 4096, 22016, 32, 32, 32, 128},
    FamilyDefaults{"qwen3_moe", 151936, 2048, 6144, 24, 32, 4, 0, 0, 128, 8, 768},
    FamilyDefaults{"gemma", 256000, 3072, 24576, 28, 16, 16, 256},
    FamilyDefaults{"gemma2", 256000, 2304, 9216, 26, 8, 4, 256, 4096},
    FamilyDefaults{"gemma3", 262208, 2304, 9216, 26, 8, 4, 256, 4096},
    FamilyDefaults{"gemma3n", 262400, 2048, 16384, 35, 8, 2, 256, 512},
    FamilyDefaults{"gemma4", 262144, 2304, 9216, 30, 8, 4, 256, 512},
    FamilyDefaults{"phi3", 32064, 3072, 8192, 32, 32, 32},
    FamilyDefaults{"cohere2", 256000, 8192, 22528, 40, 64, 64, 0, 4096},
    FamilyDefaults{"mllama", 128256, 4096, 14336, 40, 32, 8},
    FamilyDefaults{"llama4", 202048, 5120, 8192, 48, 40, 8, 128, 0, 16, 1}};

constexpr std::size_t most_keys = 11;

struct Listed {
    std::array<HfDefault, most_keys> keys;
    std::size_t count = 0;
};

Listed listed(const FamilyDefaults& family)
{
    Listed list;
    const auto add = [&](std::string_view key, std::int64_t value) {
        if (value > 0)
            list.keys[list.count++] = {key, value};
    };
    add("vocab_size", family.vocabulary);
    add("hidden_size", family.hidden);
    add("intermediate_size", family.ffn);
    add("num_hidden_layers", family.layers);
    add("num_attention_heads", family.heads);
    add("num_key_value_heads", family.key_heads);
    add("head_dim", family.head_dim);
    add("sliding_window", family.window);
    add("num_experts", family.experts);
    add("num_experts_per_tok", family.experts_per_token);
    add("moe_intermediate_size", family.expert_ffn);
    return list;
}

} // namespace

std::span<const HfDefault> hf_defaults(std::string_view model_type)
{
    static const auto all = [] {
        std::array<Listed, known_defaults.size()> lists;
        std::ranges::transform(known_defaults, lists.begin(), listed);
        return lists;
    }();
    const auto found = std::ranges::find(known_defaults, model_type, &FamilyDefaults::model_type);
    if (found == known_defaults.end())
        return {};
    const Listed& list = all[static_cast<std::size_t>(found - known_defaults.begin())];
    return std::span(list.keys).first(list.count);
}

} // namespace trainyard
