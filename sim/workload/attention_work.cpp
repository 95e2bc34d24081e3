// Attention: projections, rotary positions, and the core fused (flash) or not.

#include "sim/workload/layer_parts.h"
#include "sim/workload/sparse_indexer.h"

namespace trainyard {
namespace {

double square_bytes(const LayerShape& s)
{
    const AttentionShape a = attention_shape(s);
    return static_cast<double>(s.width * a.batch * a.heads * a.key_length * a.query_length);
}

// Of the pairs that the mask leaves, those inside a document.
double seen_share(const LayerShape& s)
{
    const Partition& p = s.partition;
    const std::vector<std::int64_t> pieces =
        attention_pieces(p.documents, p.sequence_length, s.model.attention_chunk);
    if (pieces.empty())
        return 1;
    const AttentionMask mask{s.model.causal, s.model.keys_per_query(p.sequence_length)};
    const auto length = static_cast<double>(p.sequence_length);
    return document_pairs(pieces, mask) / visible_pairs(length, length, mask);
}

// One of the batched products around the square of scores, with tensors of `dim` columns on its
// side; the square's traffic is in the passes.
Kernel square_gemm(const LayerShape& s, std::string name, const GemmShape& shape, std::int64_t dim)
{
    Kernel kernel;
    kernel.kind = KernelKind::gemm;
    kernel.use = KernelUse::attention_square;
    kernel.name = std::move(name);
    kernel.precision = s.plain_precision();
    kernel.gemm = shape;
    const AttentionShape a = attention_shape(s);
    // Queries (or results) and keys (or values).
    const std::int64_t elements = dim * (a.query_length + a.key_length);
    kernel.bytes = Bytes(static_cast<std::uint64_t>(s.width * shape.batch * elements));
    return kernel;
}

struct SquareShapes {
    GemmShape scores; // [queries x d][d x keys]
    GemmShape values; // [queries x keys][keys x d]
};

SquareShapes square_shapes(const LayerShape& s)
{
    const AttentionShape a = attention_shape(s);
    const std::int64_t batch = a.batch * a.heads;
    return {{a.query_length, a.key_length, a.head_dim, batch},
            {a.query_length, a.value_dim, a.key_length, batch}};
}

WorkList unfused_backward(const LayerShape& s)
{
    const auto [scores, values] = square_shapes(s);
    const std::int64_t d = s.head_dim;
    const std::int64_t dv = s.value_dim;
    const GemmShape probabilities{scores.m, scores.n, dv, scores.batch}; // dO V^T
    const GemmShape queries{values.m, d, values.k, values.batch};        // dS K
    const GemmShape by_key{scores.n, d, scores.m, scores.batch};         // [keys x queries][.. x d]
    const GemmShape values_by_key{scores.n, dv, scores.m, scores.batch};
    const double passes = s.partition.kernels.square_passes_backward * square_bytes(s);
    return {square_gemm(s, "probability_gradient", probabilities, dv),
            square_gemm(s, "value_gradient", values_by_key, dv),
            memory_kernel("softmax_backward", passes, KernelUse::attention_square, 4),
            square_gemm(s, "query_gradient", queries, d),
            square_gemm(s, "key_gradient", by_key, d)};
}

} // namespace

AttentionShape attention_shape(const LayerShape& s)
{
    const Partition& p = s.partition;
    const int heads = head_ranks(p);
    AttentionShape shape;
    shape.batch = p.micro_batch;
    shape.query_length = divided_up(p.sequence_length, p.cp / heads);
    shape.key_length = p.sequence_length;
    shape.heads = divided_up(s.heads, heads);
    shape.kv_heads = divided_up(s.kv_heads, heads);
    shape.head_dim = s.head_dim;
    shape.value_dim = s.value_dim;
    shape.window = s.model.keys_per_query(p.sequence_length);
    shape.causal = s.model.causal;
    shape.seen_share = seen_share(s);
    shape.skips_masked = p.kernels.causal_skips;
    shape.dropout = s.model.dropout;
    shape.kernel = p.kernels.attention;
    return shape;
}

// Forward reads Q, K, V and writes O; backward also reads O and dO and writes dQ, dK, dV.
Kernel fused_attention(const LayerShape& s, const AttentionShape& shape, bool backward)
{
    Kernel kernel;
    kernel.kind = KernelKind::attention;
    kernel.use = KernelUse::attention;
    kernel.name = backward ? "attention_backward" : "attention";
    kernel.precision = s.plain_precision();
    kernel.attention = shape;
    kernel.attention.backward = backward;
    const AttentionShape& a = kernel.attention;
    const std::int64_t columns = a.head_dim + a.value_dim; // of Q and O, of K and V
    const std::int64_t qo = a.batch * a.query_length * a.heads * columns;
    const std::int64_t kv = a.batch * a.key_length * a.kv_heads * columns;
    kernel.bytes = Bytes(static_cast<std::uint64_t>(s.width * (backward ? 2 : 1) * (qo + kv)));
    return kernel;
}

// delta = rowsum(dO o O) comes first in backward.
Kernel attention_delta(const LayerShape& s)
{
    return memory_kernel("attention_delta",
                         static_cast<double>(2 * s.width * s.tokens * s.heads * s.value_dim),
                         KernelUse::attention);
}

void add_attention_core(WorkBuilder& builder)
{
    const LayerShape& s = builder.shape();
    if (s.partition.kernels.attention == AttentionKernel::unfused)
        builder.step(attention_core_forward(s), unfused_backward(s));
    else
        builder.step(attention_core_forward(s),
                     {attention_delta(s), fused_attention(s, attention_shape(s), true)});
}

WorkList attention_core_forward(const LayerShape& s)
{
    if (s.partition.kernels.attention != AttentionKernel::unfused)
        return {fused_attention(s, attention_shape(s), false)};
    const auto [scores, values] = square_shapes(s);
    const double passes = s.partition.kernels.square_passes_forward * square_bytes(s);
    return {square_gemm(s, "scores", scores, s.head_dim),
            memory_kernel("softmax", passes, KernelUse::attention_square, 5),
            square_gemm(s, "values", values, s.value_dim)};
}

namespace {

// Queries, keys and values from the layer's input.
void add_projections(WorkBuilder& builder)
{
    const LayerShape& s = builder.shape();
    const std::int64_t q = s.heads * s.head_dim;
    const std::int64_t k = s.model.earlier_keys ? 0 : s.kv_heads * s.head_dim;
    const std::int64_t v =
        s.model.earlier_keys || s.model.shared_key_value ? 0 : s.kv_heads * s.value_dim;
    const std::int64_t kv = k + v;
    const std::int64_t gate = s.model.attention_gate ? s.heads * s.value_dim : 0;
    const std::int64_t rank = s.model.query_rank;
    const double rotated = static_cast<double>(s.width * s.tokens * (q + k));

    // With a latent for queries its matrix, whole on every rank, goes with the keys'.
    const std::int64_t first = (rank > 0 ? rank : q) + gate + kv;
    Linear qkv{"qkv", {s.tokens, first, s.hidden}, KernelUse::attention, LinearCut::columns};
    qkv.adapted = AdaptedColumns(s).qkv;
    builder.linear(qkv);
    if (rank > 0)
        builder.linear({"query_up", {s.tokens, q, rank}, KernelUse::attention});
    if (s.model.qk_norm)
        builder.pass({"qk_norm", 2 * rotated, 3 * rotated, KernelUse::attention});
    if (s.model.position == PositionKind::rotary)
        builder.pass({"rotary", 2 * rotated, 2 * rotated, KernelUse::attention});
}

// A learned weighted sum of neighbouring tokens' keys: two matrices make keys and weights, twice as
// wide where an indexer picks among the results.
void add_key_compression(WorkBuilder& builder)
{
    const LayerShape& s = builder.shape();
    const std::int64_t columns = compressor_columns(s.model);
    builder.linear({"key_compression", {s.tokens, columns, s.hidden}, KernelUse::attention});
    const double once = static_cast<double>(s.width * s.tokens * columns);
    builder.pass({"compressed_keys", once, 2 * once, KernelUse::attention});
}

} // namespace

std::int64_t compressor_columns(const Transformer& model)
{
    std::int64_t columns = (model.indexer ? 4 : 2) * model.head_dim;
    if (model.indexer)
        columns += 4 * model.indexer->head_dim;
    return columns;
}

void add_attention(WorkBuilder& builder)
{
    const LayerShape& s = builder.shape();
    if (s.model.latent)
        add_latent_projections(builder);
    else
        add_projections(builder);
    if (s.model.key_compression > 1)
        add_key_compression(builder);
    if (s.model.indexer)
        add_sparse_indexer(builder);
    add_context_attention(builder);
    if (s.model.attention_gate) {
        // The gate's sigmoid times the result.
        const double once = static_cast<double>(s.width * s.tokens * s.heads * s.value_dim);
        builder.pass({"attention_gate", 3 * once, 5 * once, KernelUse::attention});
    }
    // Side by side with the MLP the two share one gather before and one reduction after.
    const LinearCut cut = s.model.parallel_blocks ? LinearCut::none : LinearCut::rows;
    std::int64_t results = s.heads * s.value_dim;
    if (s.model.output_rank > 0) {
        // Each group's results go through a latent of its own.
        const std::int64_t groups = divided_up(s.model.output_groups, s.partition.tp);
        builder.linear({"output_down",
                        {s.tokens, s.model.output_rank, divided_up(results, groups), groups},
                        KernelUse::attention});
        results = groups * s.model.output_rank;
    }
    Linear output{"attention_output", {s.tokens, s.hidden, results}, KernelUse::attention, cut};
    output.cast = CastSource::memory;
    output.adapted = AdaptedColumns(s).output;
    builder.linear(output);
}

} // namespace trainyard
