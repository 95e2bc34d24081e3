// Attention over a sequence that context-parallel ranks share.

#include "sim/workload/layer_parts.h"

#include <algorithm>

namespace trainyard {
namespace {

// CP by gathering keys and values: every rank attends its queries to the whole sequence. Backward
// gathers them again (only the own part is kept) and scatters the sums of their gradients.
void add_gathered_attention(WorkBuilder& builder)
{
    const LayerShape& s = builder.shape();
    const Partition& p = s.partition;
    const Bytes bytes(static_cast<std::uint64_t>(s.width * p.micro_batch * p.sequence_length *
                                                 s.key_value_columns()));
    const auto gather = [&](std::string name) {
        return Communication{CollectiveKind::all_gather, GroupKind::cp, bytes, std::move(name), 0};
    };
    builder.step({gather("kv_gather")},
                 {Communication{CollectiveKind::reduce_scatter, GroupKind::cp, bytes,
                                "kv_gradient_scatter", 0}});
    add_attention_core(builder);
    // After the core in forward order, so that in backward it comes before.
    builder.step({}, {gather("kv_gather_again")});
}

// All-to-all of b s/c tokens: each rank gets its part of the heads for all tokens of the group, or
// the reverse. With fewer key heads than ranks each is sent to several.
struct HeadExchange {
    std::string_view name;
    std::int64_t heads = 0;
    std::int64_t dim = 0;
    bool to_heads = true;
};

void add_head_exchange(WorkBuilder& builder, const HeadExchange& e)
{
    const LayerShape& s = builder.shape();
    const GroupKind group =
        s.partition.context.kind == ContextKind::hybrid ? GroupKind::cp_a2a : GroupKind::cp;
    const std::int64_t sent = std::max<std::int64_t>(e.heads, head_ranks(s.partition));
    const Bytes bytes(static_cast<std::uint64_t>(s.width * s.tokens * sent * e.dim));
    const auto exchange = [&](const char* suffix) {
        return Communication{CollectiveKind::all_to_all, group, bytes, std::string(e.name) + suffix,
                             0};
    };
    builder.exchange(exchange(e.to_heads ? "_to_heads" : "_to_tokens"),
                     exchange(e.to_heads ? "_gradient_to_tokens" : "_gradient_to_heads"));
}

} // namespace

void add_context_attention(WorkBuilder& builder)
{
    const LayerShape& s = builder.shape();
    const Partition& p = s.partition;
    if (p.cp == 1)
        return add_attention_core(builder);
    if (p.context.kind == ContextKind::all_gather)
        return add_gathered_attention(builder);
    const bool exchanges = head_ranks(p) > 1;
    if (exchanges) {
        add_head_exchange(builder, {"queries", s.heads, s.head_dim});
        add_head_exchange(builder, {"keys", s.kv_heads, s.head_dim});
        add_head_exchange(builder, {"values", s.kv_heads, s.value_dim});
    }
    if (ring_ranks(p) > 1)
        add_ring_attention(builder);
    else
        add_attention_core(builder);
    if (exchanges)
        add_head_exchange(builder, {"attention_result", s.heads, s.value_dim, false});
}

} // namespace trainyard
