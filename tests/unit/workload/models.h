#pragma once

// Models and partitions that the workload tests share.

#include "sim/workload/layer_work.h"

#include <algorithm>

namespace trainyard::test {

inline double value(Bytes bytes)
{
    return static_cast<double>(bytes.value());
}

// GPT as Megatron trains it: learned positions, GELU, dropout, biases, tied embeddings.
inline Transformer gpt(std::int64_t hidden, int layers, int heads)
{
    Transformer t;
    t.hidden = hidden;
    t.layers = layers;
    t.heads = t.kv_heads = heads;
    t.head_dim = hidden / heads;
    t.ffn = 4 * hidden;
    t.vocabulary = 51200;
    t.max_positions = 2048;
    t.gated_mlp = false;
    t.linear_bias = true;
    t.tied_embeddings = true;
    t.dropout = true;
    t.norm = NormKind::layer_norm;
    t.position = PositionKind::learned;
    t.activation = Activation::gelu;
    return t;
}

// Llama 3 70B.
inline Transformer llama_70b()
{
    Transformer t;
    t.hidden = 8192;
    t.layers = 80;
    t.heads = 64;
    t.kv_heads = 8;
    t.head_dim = 128;
    t.ffn = 28672;
    t.vocabulary = 128256;
    return t;
}

inline Transformer mixtral()
{
    Transformer t;
    t.hidden = 4096;
    t.layers = 32;
    t.heads = 32;
    t.kv_heads = 8;
    t.head_dim = 128;
    t.ffn = 14336;
    t.vocabulary = 32000;
    t.moe = MixtureOfExperts{.experts = 8, .experts_per_token = 2, .expert_ffn = 14336};
    return t;
}

inline Transformer deepseek_v3()
{
    Transformer t;
    t.hidden = 7168;
    t.layers = 61;
    t.heads = t.kv_heads = 128;
    t.head_dim = 192;
    t.ffn = 18432;
    t.vocabulary = 129280;
    t.latent = LatentAttention{.q_lora_rank = 1536,
                               .kv_lora_rank = 512,
                               .qk_nope_head_dim = 128,
                               .qk_rope_head_dim = 64,
                               .v_head_dim = 128};
    t.moe = MixtureOfExperts{.experts = 256,
                             .experts_per_token = 8,
                             .expert_ffn = 2048,
                             .shared_expert_ffn = 2048,
                             .leading_dense_layers = 3,
                             .groups = 8,
                             .groups_per_token = 4};
    t.prediction_layers = 1;
    return t;
}

inline constexpr LayerKind dense_layer{LayerKind::Role::dense};
inline constexpr LayerKind moe_layer{LayerKind::Role::moe};
inline constexpr LayerKind head_layer{LayerKind::Role::head};
inline constexpr LayerKind embedding_layer{LayerKind::Role::embedding};

inline Partition partition(std::int64_t sequence_length, std::int64_t micro_batch = 1)
{
    Partition p;
    p.sequence_length = sequence_length;
    p.micro_batch = micro_batch;
    return p;
}

inline LayerWork work(const Transformer& t, const LayerKind& kind, const Partition& p)
{
    return layer_work(Model{"test", t}, kind, p);
}

inline std::vector<Kernel> kernels(const WorkList& items)
{
    std::vector<Kernel> out;
    for (const WorkItem& item : items)
        if (const auto* kernel = std::get_if<Kernel>(&item))
            out.push_back(*kernel);
    return out;
}

inline std::vector<Communication> communications(const WorkList& items, GroupKind group)
{
    std::vector<Communication> out;
    for (const WorkItem& item : items)
        if (const auto* c = std::get_if<Communication>(&item))
            if (c->group == group)
                out.push_back(*c);
    return out;
}

template <class Counts>
double gemm_flops_if(const WorkList& items, const Counts& counts)
{
    double sum = 0;
    for (const Kernel& kernel : kernels(items))
        if (kernel.kind == KernelKind::gemm && counts(kernel.use))
            sum += hardware_flops(kernel).value();
    return sum;
}

inline double gemm_flops(const WorkList& items, KernelUse use)
{
    return gemm_flops_if(items, [use](KernelUse of) { return of == use; });
}

// The dense matrices of layers.
inline double gemm_flops(const WorkList& items)
{
    return gemm_flops_if(items, [](KernelUse of) {
        return of == KernelUse::attention || of == KernelUse::mlp || of == KernelUse::router ||
               of == KernelUse::residual_stream;
    });
}

inline double attention_flops(const WorkList& items)
{
    double sum = 0;
    for (const Kernel& kernel : kernels(items))
        if (kernel.kind == KernelKind::attention)
            sum += hardware_flops(kernel).value();
    return sum;
}

inline double memory_bytes(const WorkList& items)
{
    double sum = 0;
    for (const Kernel& kernel : kernels(items))
        if (kernel.kind == KernelKind::memory_bound)
            sum += static_cast<double>(kernel.bytes.value());
    return sum;
}

inline double communication_bytes(const WorkList& items, GroupKind group, CollectiveKind kind)
{
    double sum = 0;
    for (const Communication& c : communications(items, group))
        if (c.kind == kind)
            sum += static_cast<double>(c.bytes.value());
    return sum;
}

inline int launch_count(const WorkList& items)
{
    int sum = 0;
    for (const Kernel& kernel : kernels(items))
        sum += kernel.launches;
    return sum;
}

// Bytes of the layer's tensor of that name; 0 when it has none.
inline std::int64_t tensor_bytes(const LayerWork& work, std::string_view name)
{
    const auto found = std::ranges::find(work.tensors, name, &LayerTensor::name);
    return found == work.tensors.end() ? 0 : found->bytes;
}

} // namespace trainyard::test
