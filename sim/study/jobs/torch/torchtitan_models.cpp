// Sizes of torchtitan's registry: torchtitan/models/{llama3,qwen3}/__init__.py.

#include "sim/study/jobs/torch/torchtitan.h"

#include <algorithm>

namespace trainyard {
namespace {

struct ModelSizes {
    int layers;
    std::int64_t hidden;
    int heads;
    int kv_heads;
    std::int64_t head_dim;
    std::int64_t ffn;
    std::int64_t vocabulary;
};

Transformer llama(const ModelSizes& sizes)
{
    Transformer out;
    out.layers = sizes.layers;
    out.hidden = sizes.hidden;
    out.heads = sizes.heads;
    out.kv_heads = sizes.kv_heads;
    out.head_dim = sizes.head_dim;
    out.ffn = sizes.ffn;
    out.vocabulary = sizes.vocabulary;
    return out;
}

enum class Embeddings { untied, tied };

Transformer qwen3(const ModelSizes& sizes, Embeddings embeddings)
{
    Transformer out = llama(sizes);
    out.qk_norm = true;
    out.tied_embeddings = embeddings == Embeddings::tied;
    return out;
}

// 128 experts, 8 per token; no dense layers.
Transformer qwen3_moe(const ModelSizes& sizes)
{
    Transformer out = qwen3(sizes, Embeddings::untied);
    MixtureOfExperts moe;
    moe.experts = 128;
    moe.experts_per_token = 8;
    moe.expert_ffn = sizes.ffn;
    out.moe = moe;
    return out;
}

std::vector<TitanFlavor> all_flavors()
{
    using enum Embeddings;
    constexpr std::int64_t llama_words = 128256;
    constexpr std::int64_t qwen_words = 151936;
    return {
        {"llama3", "debugmodel", llama({6, 256, 16, 16, 16, 768, 2048})},
        {"llama3", "8B", llama({32, 4096, 32, 8, 128, 14336, llama_words})},
        {"llama3", "70B", llama({80, 8192, 64, 8, 128, 28672, llama_words})},
        {"llama3", "405B", llama({126, 16384, 128, 8, 128, 53248, llama_words})},
        {"qwen3", "0.6B", qwen3({28, 1024, 16, 8, 128, 3072, qwen_words}, tied)},
        {"qwen3", "1.7B", qwen3({28, 2048, 16, 8, 128, 6144, qwen_words}, tied)},
        {"qwen3", "4B", qwen3({36, 2560, 32, 8, 128, 9728, qwen_words}, tied)},
        {"qwen3", "8B", qwen3({36, 4096, 32, 8, 128, 12288, qwen_words}, untied)},
        {"qwen3", "14B", qwen3({40, 5120, 40, 8, 128, 17408, qwen_words}, untied)},
        {"qwen3", "32B", qwen3({64, 5120, 64, 8, 128, 25600, qwen_words}, untied)},
        {"qwen3", "30B-A3B", qwen3_moe({48, 2048, 32, 4, 128, 768, qwen_words})},
        {"qwen3", "235B-A22B", qwen3_moe({94, 4096, 64, 4, 128, 1536, qwen_words})},
    };
}

} // namespace

const std::vector<TitanFlavor>& titan_flavors()
{
    static const std::vector<TitanFlavor> all = all_flavors();
    return all;
}

const TitanFlavor* find_titan_flavor(std::string_view family, std::string_view flavor)
{
    const auto& all = titan_flavors();
    const auto found = std::find_if(all.begin(), all.end(), [&](const TitanFlavor& known) {
        return known.family == family && known.flavor == flavor;
    });
    return found == all.end() ? nullptr : &*found;
}

} // namespace trainyard
