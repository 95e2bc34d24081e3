// Projections of multi-head latent attention, as Megatron-Core cuts them: the down projections and
// the norms of the latents are whole on every TP rank and meet its own part of the sequence; the up
// projections are cut by heads, so that TP gathers the narrow latents in place of the input.

#include "sim/workload/layer_parts.h"

namespace trainyard {
namespace {

// Whole matrix, on the tokens that a rank holds between the matrices.
void add_down(WorkBuilder& builder, std::string_view name, std::int64_t columns)
{
    const LayerShape& s = builder.shape();
    builder.linear({name, {s.split_tokens, columns, s.hidden}, KernelUse::attention});
}

// Forward reads and writes the latent; backward reads it and a gradient and writes one.
void add_latent_norm(WorkBuilder& builder, std::string_view name, std::int64_t columns)
{
    const LayerShape& s = builder.shape();
    const double once = static_cast<double>(s.width * s.split_tokens * columns);
    builder.pass({name, 2 * once, 3 * once, KernelUse::attention, true});
}

void add_up(WorkBuilder& builder, std::string_view name, std::int64_t columns, std::int64_t inner)
{
    const LayerShape& s = builder.shape();
    Linear up{name, {s.tokens, columns, inner}, KernelUse::attention, LinearCut::columns};
    up.exchanged = inner;
    builder.linear(up);
}

// The key part that all heads share goes to every TP rank; its gradients come from all of them.
void add_shared_key_exchange(WorkBuilder& builder, std::int64_t columns)
{
    const LayerShape& s = builder.shape();
    if (!s.tensor_parallel)
        return;
    const Bytes bytes(static_cast<std::uint64_t>(s.width * s.tokens * columns));
    const auto tp = [&](CollectiveKind kind, std::string name) {
        return Communication{kind, GroupKind::tp, bytes, std::move(name), 0};
    };
    if (s.sequence_parallel)
        builder.exchange(tp(CollectiveKind::all_gather, "shared_key_gather"),
                         tp(CollectiveKind::reduce_scatter, "shared_key_gradient_scatter"));
    else
        builder.step({}, {tp(CollectiveKind::all_reduce, "shared_key_gradient_reduce")});
}

// Queries are turned in place; keys and values are written apart from the up projection's result,
// the shared part copied to each head. Not fused, queries are put together anew as well.
void add_rotary(WorkBuilder& builder, const LatentAttention& latent)
{
    const LayerShape& s = builder.shape();
    const std::int64_t unfused =
        s.partition.kernels.fused_elementwise ? 0 : 2 * s.heads * s.head_dim;
    const std::int64_t queries = 2 * s.heads * latent.qk_rope_head_dim;
    const std::int64_t shared = latent.qk_rope_head_dim;
    const std::int64_t read = s.heads * (latent.qk_nope_head_dim + s.value_dim);
    const std::int64_t written = s.heads * (s.head_dim + s.value_dim);
    const double bytes =
        static_cast<double>(s.width * s.tokens * (queries + unfused + shared + read + written));
    builder.pass({"rotary", bytes, bytes, KernelUse::attention});
}

} // namespace

void add_latent_projections(WorkBuilder& builder)
{
    const LayerShape& s = builder.shape();
    const LatentAttention& latent = *s.model.latent;
    const std::int64_t query_columns = s.heads * s.head_dim;
    if (latent.q_lora_rank > 0) {
        add_down(builder, "attention_q_down", latent.q_lora_rank);
        add_latent_norm(builder, "attention_q_norm", latent.q_lora_rank);
    }
    add_down(builder, "attention_kv_down", latent.kv_lora_rank + latent.qk_rope_head_dim);
    add_latent_norm(builder, "attention_kv_norm", latent.kv_lora_rank);
    if (latent.q_lora_rank > 0)
        add_up(builder, "attention_q_up", query_columns, latent.q_lora_rank);
    else
        add_up(builder, "attention_q", query_columns, s.hidden);
    if (s.model.attention_gate)
        add_up(builder, "attention_gate", s.heads * s.value_dim, s.hidden);
    add_shared_key_exchange(builder, latent.qk_rope_head_dim);
    add_up(builder, "attention_kv_up", s.heads * (latent.qk_nope_head_dim + s.value_dim),
           latent.kv_lora_rank);
    add_rotary(builder, latent);
}

} // namespace trainyard
