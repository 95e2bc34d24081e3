// Sizes of torchtitan's registry: torchtitan/models/{llama3,llama4,deepseek_v3,qwen3}/__init__.py,
// and train.py of 2024 for Llama 2. What is shipped as a model of its own is taken from there.

#include "sim/base/spelling.h"
#include "sim/study/jobs/named_model.h"
#include "sim/study/jobs/torch/torchtitan.h"

#include <algorithm>
#include <array>

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

// 8 experts per token; no dense layers.
Transformer qwen3_moe(const ModelSizes& sizes, int experts)
{
    Transformer out = qwen3(sizes, Embeddings::untied);
    MixtureOfExperts moe;
    moe.experts = experts;
    moe.experts_per_token = 8;
    moe.expert_ffn = sizes.ffn;
    out.moe = moe;
    return out;
}

// Experts in every second layer, one of 8 and a shared one per token.
Transformer llama4_debug()
{
    Transformer out = llama({6, 256, 16, 16, 16, 768, 2048});
    MixtureOfExperts moe;
    moe.experts_per_token = 1;
    moe.expert_ffn = 512;
    moe.shared_expert_ffn = 512;
    moe.every = 2;
    out.moe = moe;
    out.attention_chunk = 256;
    return out;
}

Transformer deepseek_debug()
{
    Transformer out = llama({6, 256, 16, 16, 192, 1024, 2048});
    out.latent = LatentAttention{0, 512, 128, 64, 128};
    MixtureOfExperts moe;
    moe.experts_per_token = 3;
    moe.expert_ffn = 256;
    moe.shared_expert_ffn = 2 * 256;
    moe.leading_dense_layers = 1;
    out.moe = moe;
    return out;
}

// Flavors that are the published models, without layers that predict further tokens: torchtitan
// has none.
struct ShippedFlavor {
    std::string_view family;
    std::string_view flavor;
    std::string_view model;
};
constexpr std::array shipped_flavors{
    ShippedFlavor{"llama4", "17bx16e", "llama-4-scout-17b-16e"},
    ShippedFlavor{"llama4", "17bx128e", "llama-4-maverick-17b-128e"},
    ShippedFlavor{"deepseek_v3", "16B", "deepseek-v2-lite"},
    ShippedFlavor{"deepseek_v3", "236B", "deepseek-v2"},
    ShippedFlavor{"deepseek_v3", "671B", "deepseek-v3"},
    ShippedFlavor{"gpt_oss", "20b", "gpt-oss-20b"},
    ShippedFlavor{"gpt_oss", "120b", "gpt-oss-120b"},
};

// Families that are another's with additions beside the layers, and older names.
std::string_view family_named(std::string_view name)
{
    if (name == "llama3_ft" || name == "llama3_simple_fsdp" || name == "simple_fsdp.llama3" ||
        name == "llama3_mlx")
        return "llama3";
    return name == "llama" ? "llama2" : name;
}

std::vector<TitanFlavor> all_flavors()
{
    using enum Embeddings;
    constexpr std::int64_t llama_words = 128256;
    constexpr std::int64_t qwen_words = 151936;
    constexpr std::int64_t llama2_words = 32000;
    std::vector<TitanFlavor> out{
        {"llama2", "debugmodel", llama({8, 256, 16, 16, 16, 768, llama2_words})},
        {"llama2", "7B", llama({32, 4096, 32, 32, 128, 11008, llama2_words})},
        {"llama2", "13B", llama({40, 5120, 40, 40, 128, 13824, llama2_words})},
        {"llama2", "70B", llama({80, 8192, 64, 8, 128, 28672, llama2_words})},
        {"llama3", "debugmodel", llama({6, 256, 16, 16, 16, 768, 2048})},
        {"llama3", "8B", llama({32, 4096, 32, 8, 128, 14336, llama_words})},
        {"llama3", "70B", llama({80, 8192, 64, 8, 128, 28672, llama_words})},
        {"llama3", "405B", llama({126, 16384, 128, 8, 128, 53248, llama_words})},
        {"llama4", "debugmodel", llama4_debug()},
        {"deepseek_v3", "debugmodel", deepseek_debug()},
        {"qwen3", "debugmodel", qwen3({8, 256, 16, 8, 128, 3072, 2048}, tied)},
        {"qwen3", "debugmodel_moe", qwen3_moe({8, 256, 16, 8, 128, 768, 2048}, 64)},
        {"qwen3", "0.6B", qwen3({28, 1024, 16, 8, 128, 3072, qwen_words}, tied)},
        {"qwen3", "1.7B", qwen3({28, 2048, 16, 8, 128, 6144, qwen_words}, tied)},
        {"qwen3", "4B", qwen3({36, 2560, 32, 8, 128, 9728, qwen_words}, tied)},
        {"qwen3", "8B", qwen3({36, 4096, 32, 8, 128, 12288, qwen_words}, untied)},
        {"qwen3", "14B", qwen3({40, 5120, 40, 8, 128, 17408, qwen_words}, untied)},
        {"qwen3", "32B", qwen3({64, 5120, 64, 8, 128, 25600, qwen_words}, untied)},
        {"qwen3", "30B-A3B", qwen3_moe({48, 2048, 32, 4, 128, 768, qwen_words}, 128)},
        {"qwen3", "235B-A22B", qwen3_moe({94, 4096, 64, 4, 128, 1536, qwen_words}, 128)},
    };
    for (const ShippedFlavor& one : shipped_flavors)
        if (auto model = shipped_model(std::string(one.model)))
            if (auto* const layers = std::get_if<Transformer>(&model->architecture)) {
                layers->prediction_layers = 0;
                out.push_back({one.family, one.flavor, std::move(*layers)});
            }
    return out;
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
    const std::string_view known = family_named(family);
    const std::string plain = plain_name(flavor);
    const auto found = std::find_if(all.begin(), all.end(), [&](const TitanFlavor& one) {
        return one.family == known && plain_name(one.flavor) == plain;
    });
    return found == all.end() ? nullptr : &*found;
}

const TitanFlavor* nearest_titan_flavor(std::string_view family, std::string_view flavor)
{
    // In front of and behind a part of its words stand none with a number.
    const auto adds_no_number = [](std::string_view rest) {
        return rest.find_first_of("0123456789") == std::string_view::npos;
    };
    const auto parts = [](std::string_view text, std::size_t at) {
        return at == 0 || at >= text.size() ||
               std::string_view("-_").find(text[at]) != std::string_view::npos ||
               std::string_view("-_").find(text[at - 1]) != std::string_view::npos;
    };
    for (std::size_t from = 0; from < flavor.size(); ++from)
        for (std::size_t end = flavor.size(); end > from; --end)
            if (parts(flavor, from) && parts(flavor, end) &&
                adds_no_number(flavor.substr(0, from)) && adds_no_number(flavor.substr(end)))
                if (const auto* one = find_titan_flavor(family, flavor.substr(from, end - from)))
                    return one;
    return nullptr;
}

std::string titan_flavor_names()
{
    std::string out;
    for (const TitanFlavor& one : titan_flavors())
        out += fmt::format("{}{} {}", out.empty() ? "" : ", ", one.family, one.flavor);
    return out;
}

} // namespace trainyard
