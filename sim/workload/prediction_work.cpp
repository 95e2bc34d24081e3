// Multi-token prediction (DeepSeek-V3, section 2.2): a layer that sees the state of a token beside
// the embedding of the next one and predicts one token further, with embedding and logits of the
// main model.

#include "sim/workload/layer_parts.h"

#include <algorithm>

namespace trainyard {
namespace {

// Both inputs are normed, joined and projected back to the hidden size. TP cuts the projection by
// columns and gathers its result.
void add_input(WorkBuilder& builder)
{
    const LayerShape& s = builder.shape();
    const double bytes = static_cast<double>(s.token_bytes().value());
    builder.pass("next_embedding", bytes, bytes);
    add_norm(builder, "next_embedding_norm");
    add_norm(builder, "state_norm");
    Linear projection{"prediction_input",
                      {s.tokens, divided_up(s.hidden, s.partition.tp), 2 * s.hidden},
                      LinearCut::columns};
    projection.exchanged = 2 * s.hidden;
    builder.linear(projection);
    if (!s.tensor_parallel)
        return;
    const Communication gather{CollectiveKind::all_gather, GroupKind::tp, s.token_bytes(),
                               "prediction_input_result_gather", 0};
    if (s.sequence_parallel)
        builder.exchange(gather, gather);
    else
        builder.step({gather}, {});
}

void append(WorkList& to, const WorkList& from)
{
    to.insert(to.end(), from.begin(), from.end());
}

void put_before(WorkList& items, const WorkList& earlier)
{
    items.insert(items.begin(), earlier.begin(), earlier.end());
}

} // namespace

void add_prediction(LayerWork& layer, const LayerShape& s)
{
    WorkBuilder input(s);
    add_input(input);
    WorkBuilder logits(s);
    add_norm(logits, "final_norm");
    add_logits(logits, vocabulary_tokens(s));
    put_before(layer.forward, input.forward());
    append(layer.forward, logits.forward());
    put_before(layer.backward, logits.backward());
    append(layer.backward, input.backward());

    // The inputs of both norms and, joined, of the projection.
    const std::int64_t joined = 2 * s.split_tokens * s.hidden;
    const std::int64_t of_product = s.partition.lora ? 0
                                    : s.narrow()     ? s.cast_bytes(joined)
                                                     : s.width * joined;
    const Bytes inputs(static_cast<std::uint64_t>(s.width * joined + of_product));
    const Bytes kept = inputs + logits_kept(s, vocabulary_tokens(s));
    layer.saved.none += kept;
    layer.saved.selective += kept;
    if (!s.partition.kernels.loss_in_place)
        layer.transient = std::max(layer.transient,
                                   Bytes(static_cast<std::uint64_t>(s.width * vocabulary_tokens(s) *
                                                                    vocabulary_per_rank(s))));
}

} // namespace trainyard
