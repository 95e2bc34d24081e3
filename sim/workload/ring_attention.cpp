// Ring attention (Liu 2023): keys and values go from rank to rank, each block on its way while the
// one before is attended to; backward the blocks go round again, the gradients of their keys and
// values one step behind them, so that every block's end on its own rank.

#include "sim/workload/layer_parts.h"

namespace trainyard {
namespace {

constexpr int merge_launches = 2; // results and log-sum-exp, or gradients of queries and of keys

// What the last rank of the ring attends to in a step, its own block in step 0.
//
// Zig-zag: of the blocks before it a rank sees the half from the front of the sequence; to the
// blocks behind it show the later half of their queries: half a block's square in every step.
// Contiguous: the last rank sees all blocks in full, ranks before it idle in some steps.
AttentionShape block_shape(const LayerShape& s, int step)
{
    AttentionShape shape = attention_shape(s);
    shape.key_length = shape.query_length;
    if (!shape.causal || step == 0)
        return shape;
    shape.causal = false;
    if (s.partition.context.balance == ContextBalance::zig_zag)
        shape.key_length = divided_up(shape.key_length, 2);
    return shape;
}

// Elements of the keys and values of a block.
std::int64_t block_elements(const AttentionShape& shape)
{
    return shape.batch * shape.query_length * shape.kv_heads * (shape.head_dim + shape.value_dim);
}

// To the next rank while `beside` further items run.
Communication pass_on(const LayerShape& s, std::int64_t elements, std::string name, int beside)
{
    const GroupKind group =
        s.partition.context.kind == ContextKind::hybrid ? GroupKind::cp_ring : GroupKind::cp;
    return {CollectiveKind::send_receive, group,
            Bytes(static_cast<std::uint64_t>(s.width * elements)), std::move(name), beside};
}

// Two partial results become one: each read, one written.
Kernel merge(const LayerShape& s, std::string_view name, std::int64_t elements)
{
    return memory_kernel(name, static_cast<double>(3 * s.width * elements), KernelUse::attention,
                         merge_launches);
}

WorkList forward(const LayerShape& s, int ranks)
{
    WorkList items;
    for (int step = 0; step < ranks; ++step) {
        const AttentionShape shape = block_shape(s, step);
        if (step + 1 < ranks)
            items.emplace_back(pass_on(s, block_elements(shape), "kv_ring", step == 0 ? 1 : 2));
        items.emplace_back(fused_attention(s, shape, false));
        if (step > 0)
            items.emplace_back(
                merge(s, "attention_merge",
                      shape.batch * shape.query_length * shape.heads * shape.value_dim));
    }
    return items;
}

// Begins with the block that forward ended with and ends with the rank's own, whose gradient comes
// home beside it: both go round in ranks - 1 exchanges.
WorkList backward(const LayerShape& s, int ranks)
{
    WorkList items{attention_delta(s)};
    for (int step = 0; step < ranks; ++step) {
        const bool first = step == 0;
        const bool last = step + 1 == ranks;
        const AttentionShape shape = block_shape(s, last ? 0 : 1);
        const std::int64_t block = block_elements(shape);
        items.emplace_back(pass_on(s, first || last ? block : 2 * block,
                                   last ? "kv_gradient_ring" : "kv_ring_again",
                                   first || last ? 1 : 2));
        items.emplace_back(fused_attention(s, shape, true));
        if (!first) {
            const std::int64_t queries =
                shape.batch * shape.query_length * shape.heads * shape.head_dim;
            const std::int64_t keys = shape.batch * shape.key_length * shape.kv_heads *
                                      (shape.head_dim + shape.value_dim);
            items.emplace_back(merge(s, "attention_gradient_merge", queries + keys));
        }
    }
    return items;
}

} // namespace

void add_ring_attention(WorkBuilder& builder)
{
    const LayerShape& s = builder.shape();
    const int ranks = ring_ranks(s.partition);
    builder.step(forward(s, ranks), backward(s, ranks));
}

int ring_launches(const LayerShape& s)
{
    return (ring_ranks(s.partition) - 1) * (1 + merge_launches);
}

} // namespace trainyard
