#include "sim/workload/saved_tensors.h"

#include "sim/workload/encoder_work.h"
#include "sim/workload/layer_parts.h"
#include "sim/workload/recurrent_mixer.h"
#include "sim/workload/sparse_indexer.h"

namespace trainyard {
namespace {

using SavedTensors = std::vector<SavedTensor>;

// The input of matrix products, which weight gradients need: in narrow formats only the cast. A
// frozen matrix needs none; adapters beside it do, in 16 bit, and each its own inner tensor.
struct ProductInput {
    std::string_view name;
    std::int64_t rows = 0;
    std::int64_t columns = 0;
    std::size_t adapters = 0;
};

void add_input(SavedTensors& tensors, const LayerShape& s, const ProductInput& input)
{
    const std::int64_t elements = input.rows * input.columns;
    if (!s.partition.lora) {
        if (s.narrow())
            tensors.push_back({input.name, s.cast_bytes(elements), 1});
        else
            tensors.push_back({input.name, elements, s.width});
        return;
    }
    if (input.adapters == 0)
        return;
    tensors.push_back({input.name, elements, s.width});
    for (std::size_t i = 0; i < input.adapters; ++i)
        tensors.push_back({"adapter_inner", s.tokens * s.partition.lora->rank, s.width});
}

void add_unfused_core(SavedTensors& tensors, const LayerShape& s)
{
    const Partition& p = s.partition;
    const std::int64_t square =
        p.micro_batch * s.heads * p.sequence_length * divided_up(p.sequence_length, p.cp);
    tensors.push_back({"softmax", square, s.width, true});
    if (s.model.dropout) {
        tensors.push_back({"softmax_mask", square, 1, true});
        tensors.push_back({"softmax_dropped", square, s.width, true});
    }
}

// Latents before and after their norms; before them in the parts that sequence parallelism leaves
// to a rank.
void add_latents(SavedTensors& tensors, const LayerShape& s)
{
    const auto add = [&](std::int64_t columns, std::string_view before, std::string_view after) {
        if (columns == 0)
            return;
        tensors.push_back({before, s.split_tokens * columns, s.width});
        add_input(tensors, s, {after, s.kept_tokens, columns});
    };
    add(s.model.latent->q_lora_rank, "q_latent", "q_up_input");
    add(s.model.latent->kv_lora_rank, "kv_latent", "kv_up_input");
}

void add_attention_tensors(SavedTensors& tensors, const LayerShape& s)
{
    const std::int64_t q = s.tokens * s.heads * s.head_dim;
    // All-to-all over more ranks than key heads leaves a copy on several.
    const std::int64_t kv_heads = std::max<std::int64_t>(s.kv_heads, head_ranks(s.partition));
    const std::int64_t made = s.model.earlier_keys ? 0 : s.tokens * kv_heads;
    const std::int64_t k = made * s.head_dim;
    const std::int64_t v = made * s.value_dim;
    const std::int64_t result = s.tokens * s.heads * s.value_dim;
    const std::int64_t h = s.split_tokens * s.hidden;
    const AdaptedColumns adapted(s);
    add_input(tensors, s,
              {"qkv_input", s.model.latent ? s.split_tokens : s.kept_tokens, s.hidden,
               adapted.qkv.size()});
    if (s.model.latent)
        add_latents(tensors, s);
    tensors.push_back({"q", q, s.width});
    if (!s.model.earlier_keys) {
        tensors.push_back({"k", k, s.width});
        tensors.push_back({"v", v, s.width});
    }
    if (s.model.qk_norm)
        tensors.push_back({"qk_norm_input", q + k, s.width});
    if (s.model.attention_gate) {
        tensors.push_back({"attention_gate", result, s.width});
        tensors.push_back({"attention_ungated", result, s.width});
    }
    if (s.partition.kernels.attention == AttentionKernel::unfused) {
        add_unfused_core(tensors, s);
        add_input(tensors, s,
                  {"attention_result", s.tokens, s.heads * s.value_dim, adapted.output.size()});
    } else {
        tensors.push_back({"log_sum_exp", s.tokens * s.heads, 4});
        tensors.push_back({"attention_result", result, s.width});
        if (s.narrow() && !s.partition.lora)
            tensors.push_back({"attention_result_cast", s.cast_bytes(result), 1});
        for (std::size_t i = 0; i < adapted.output.size(); ++i)
            tensors.push_back({"adapter_inner", s.tokens * s.partition.lora->rank, s.width});
        // Attention across CP ranks keeps copies that are cut anew to balance the causal mask.
        if (s.partition.cp > 1)
            tensors.push_back({"context_parallel_copies", q + k + v, s.width});
    }
    if (s.model.indexer)
        for (const SavedTensor& tensor : indexer_saved(s))
            tensors.push_back(tensor);
    if (s.model.dropout)
        tensors.push_back({"attention_mask", h, 1});
}

void add_recurrent_tensors(SavedTensors& tensors, const LayerShape& s)
{
    add_input(tensors, s, {"mixer_input", s.kept_tokens, s.hidden});
    for (const SavedTensor& tensor : recurrent_saved(s))
        tensors.push_back(tensor);
    const std::int64_t values = s.model.recurrence->heads * s.model.recurrence->value_dim;
    add_input(tensors, s, {"mixer_output_input", s.tokens, divided_up(values, s.partition.tp)});
    if (s.model.dropout)
        tensors.push_back({"attention_mask", s.split_tokens * s.hidden, 1});
}

void add_mlp_tensors(SavedTensors& tensors, const LayerShape& s, std::int64_t ffn)
{
    const std::int64_t f = s.columns(ffn);
    tensors.push_back({"activation_input", s.up() * s.tokens * f, s.width});
    add_input(tensors, s, {"down_input", s.tokens, f, AdaptedColumns(s).down.size()});
}

void add_expert_tensors(SavedTensors& tensors, const LayerShape& s)
{
    const ExpertShape e(s);
    const std::int64_t inner = e.handled * e.columns;
    const MixtureOfExperts& moe = *s.model.moe;
    tensors.push_back(
        {"router_probabilities", s.split_tokens * (moe.experts + moe.identity_experts), 4});
    add_input(tensors, s, {"dispatched", e.handled, e.width});
    if (moe.latent_width > 0)
        add_input(tensors, s, {"expert_result_input", s.split_tokens, e.width});
    tensors.push_back({"expert_activation_input", s.up() * inner, s.width});
    add_input(tensors, s, {"expert_down_input", e.handled, e.columns});
    if (s.model.moe->shared_expert_ffn > 0)
        add_mlp_tensors(tensors, s, s.model.moe->shared_expert_ffn);
}

// What the gate and the matrix after it read, and the norm after that.
void add_layer_embedding_tensors(SavedTensors& tensors, const LayerShape& s)
{
    const std::int64_t h = s.split_tokens * s.hidden;
    const std::int64_t width = s.split_tokens * s.model.layer_embedding_width;
    add_input(tensors, s, {"layer_embedding_input", s.split_tokens, s.hidden});
    tensors.push_back({"layer_embedding_gate", width, s.width});
    tensors.push_back({"layer_embedding_gated", width, s.width});
    tensors.push_back({"layer_embedding_norm_input", h, s.width});
}

} // namespace

std::vector<SavedTensor> saved_tensors(const LayerShape& s)
{
    const std::int64_t h = s.split_tokens * s.hidden;
    SavedTensors tensors;
    if (s.has_mixer())
        tensors.push_back({"norm_input", h, s.width, false, true});
    if (s.model.is_recurrent())
        add_recurrent_tensors(tensors, s);
    else if (s.has_mixer())
        add_attention_tensors(tensors, s);
    for (int extra = 2; s.has_mixer() && !s.has_channel() && extra < s.model.norms_per_layer;
         extra += 2)
        tensors.push_back({"post_norm_input", h, s.width});
    if (s.model.cross_attention)
        for (const SavedTensor& tensor : cross_attention_saved(s))
            tensors.push_back(tensor);
    if (s.model.layer_embedding_width > 0)
        add_layer_embedding_tensors(tensors, s);
    if (!s.has_channel())
        return tensors;
    if (s.model.norms_per_layer > 1 || !s.has_mixer()) {
        tensors.push_back({"mlp_norm_input", h, s.width, false, !s.has_mixer()});
        // Routers read the rank's own tokens.
        const bool gathered =
            s.kind.role != LayerKind::Role::moe || s.model.moe->shared_expert_ffn > 0;
        add_input(tensors, s,
                  {"mlp_input", gathered ? s.kept_tokens : s.split_tokens, s.hidden,
                   AdaptedColumns(s).up.size()});
    }
    for (int extra = s.has_mixer() ? 2 : 3; extra < s.model.norms_per_layer; ++extra)
        tensors.push_back({"post_norm_input", h, s.width});
    if (s.kind.role == LayerKind::Role::moe)
        add_expert_tensors(tensors, s);
    else
        add_mlp_tensors(tensors, s, s.model.ffn);
    if (s.model.dropout)
        tensors.push_back({"mlp_mask", h, 1});
    return tensors;
}

} // namespace trainyard
