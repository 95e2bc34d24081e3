// What comes before and after the layers: embedding look-up; final norm, logits and loss. Both are
// cut over the vocabulary by TP, or whole on every rank, which then works on its own tokens only
// where sequence parallelism has cut these.

#include "sim/workload/layer_parts.h"
#include "sim/workload/parameters.h"

#include <algorithm>
#include <cmath>

namespace trainyard {
namespace {

// Tokens that reach the logits: per sequence at least one, unless the model has no logits.
std::int64_t head_tokens(const LayerShape& s)
{
    const double fraction = s.model.head_fraction;
    if (fraction >= 1 || fraction <= 0)
        return fraction >= 1 ? vocabulary_tokens(s) : 0;
    const std::int64_t per_sequence = vocabulary_tokens(s) / s.partition.micro_batch;
    const auto chosen =
        static_cast<std::int64_t>(std::llround(fraction * static_cast<double>(per_sequence)));
    return s.partition.micro_batch * std::max<std::int64_t>(1, chosen);
}

Communication tp_collective(CollectiveKind kind, Bytes bytes, std::string name)
{
    return {kind, GroupKind::tp, bytes, std::move(name), 0};
}

// Each rank looks up the tokens of its part of the vocabulary; the partial results are summed.
void add_lookup(WorkBuilder& builder)
{
    const LayerShape& s = builder.shape();
    const bool frozen = s.partition.lora.has_value();
    if (s.model.input_elements > 0)
        return builder.linear(
            {"input", {s.split_tokens, s.hidden, s.model.input_elements}, KernelUse::embedding});
    const std::int64_t width = s.model.embedding_width > 0 ? s.model.embedding_width : s.hidden;
    const double bytes = static_cast<double>(s.width * vocabulary_tokens(s) * width);
    builder.pass({"embedding", bytes, frozen ? 0 : bytes, KernelUse::embedding});
    if (!cuts_vocabulary(s))
        return;
    const Communication scatter =
        tp_collective(CollectiveKind::reduce_scatter, s.token_bytes(), "embedding_scatter");
    if (s.sequence_parallel && frozen)
        builder.step({scatter}, {});
    else if (s.sequence_parallel)
        builder.exchange(scatter, tp_collective(CollectiveKind::all_gather, s.token_bytes(),
                                                "embedding_gradient_gather"));
    else
        builder.step(
            {tp_collective(CollectiveKind::all_reduce, s.token_bytes(), "embedding_reduce")}, {});
}

// A table for all layers, beside what a matrix makes of the embedding.
void add_layer_embeddings(WorkBuilder& builder)
{
    const LayerShape& s = builder.shape();
    const std::int64_t columns = s.model.layer_embedding_width * s.model.layers;
    if (columns == 0)
        return;
    const double once = static_cast<double>(s.width * s.split_tokens * columns);
    builder.pass({"layer_embedding", once, once, KernelUse::embedding});
    builder.linear(
        {"layer_embedding_projection", {s.split_tokens, columns, s.hidden}, KernelUse::embedding});
    builder.pass({"layer_embedding_sum", 4 * once, 5 * once, KernelUse::embedding, true});
}

// BERT: pooler and next-sentence head on one token of each sequence, a transform of the masked
// tokens; every TP rank does all of it.
void add_bert_heads(WorkBuilder& builder, std::int64_t tokens)
{
    const LayerShape& s = builder.shape();
    const std::int64_t sequences = s.partition.micro_batch;
    builder.linear({"pooler", {sequences, s.hidden, s.hidden}, KernelUse::head});
    builder.linear({"next_sentence", {sequences, 2, s.hidden}, KernelUse::head});
    if (tokens == 0)
        return;
    const std::int64_t width = logits_width(s.model);
    const double once = static_cast<double>(s.width * tokens * width);
    builder.linear({"masked_token_transform", {tokens, width, s.hidden}, KernelUse::head});
    builder.pass({"masked_token_norm", 4 * once, 6 * once, KernelUse::head, true});
}

// Vocabulary-parallel cross-entropy (Shoeybi 2019, section 3): the ranks combine the largest logit,
// the target's logit and the sum of exponentials of each token, 4 bytes each.
void add_loss(WorkBuilder& builder, std::int64_t tokens)
{
    const LayerShape& s = builder.shape();
    const KernelStyle& style = s.partition.kernels;
    const double logits = static_cast<double>(tokens * vocabulary_per_rank(s));
    WorkList forward{
        memory_kernel("loss", logits * style.loss_bytes_per_logit_forward, KernelUse::head, 3)};
    if (cuts_vocabulary(s))
        for (const char* name : {"largest_logit", "target_logit", "exponential_sum"})
            forward.push_back(tp_collective(CollectiveKind::all_reduce,
                                            Bytes(static_cast<std::uint64_t>(4 * tokens)), name));
    builder.step(std::move(forward),
                 {memory_kernel("loss_backward", logits * style.loss_bytes_per_logit_backward,
                                KernelUse::head, 2)});
}

// head_launches are of embedding and head together; a quarter of them is the embedding's.
int embedding_launches(const KernelStyle& style)
{
    return style.head_launches / 4;
}

LayerWork finished(const WorkBuilder& builder, int launches_each_way)
{
    LayerWork work;
    work.forward = builder.forward();
    work.backward = builder.backward();
    set_launches(work.forward, launches_each_way);
    set_launches(work.backward, launches_each_way);
    set_parameters(work, builder.shape());
    return work;
}

} // namespace

bool cuts_vocabulary(const LayerShape& s)
{
    return s.tensor_parallel && s.partition.vocabulary_parallel;
}

std::int64_t vocabulary_per_rank(const LayerShape& s)
{
    return divided_up(std::max(s.partition.padded_vocabulary, s.model.vocabulary),
                      s.partition.vocabulary_ranks());
}

std::int64_t vocabulary_tokens(const LayerShape& s)
{
    return s.partition.vocabulary_parallel ? s.tokens : s.split_tokens;
}

void add_logits(WorkBuilder& builder, std::int64_t tokens)
{
    const LayerShape& s = builder.shape();
    const std::int64_t width = logits_width(s.model);
    if (s.model.embedding_width > 0 && !s.model.bert_heads)
        builder.linear({"logits_projection", {tokens, width, s.hidden}, KernelUse::head});
    builder.linear({"logits",
                    {tokens, vocabulary_per_rank(s), width},
                    KernelUse::head,
                    s.partition.vocabulary_parallel ? LinearCut::columns : LinearCut::none});
    add_loss(builder, tokens);
}

LayerWork embedding_work(const LayerShape& s)
{
    WorkBuilder builder(s);
    add_lookup(builder);
    if (s.model.embedding_width > 0)
        builder.linear({"embedding_projection",
                        {s.split_tokens, s.hidden, s.model.embedding_width},
                        KernelUse::embedding});
    if (s.model.embedding_norm)
        add_norm(builder, "embedding_norm", KernelUse::embedding);
    add_layer_embeddings(builder);
    LayerWork work = finished(builder, embedding_launches(s.partition.kernels));
    work.tensors = embedding_tensors(s);
    work.saved = kept_bytes(work.tensors);
    work.output = boundary_bytes(s);
    return work;
}

LayerWork head_work(const LayerShape& s)
{
    const std::int64_t tokens = head_tokens(s);
    WorkBuilder builder(s);
    if (s.model.final_norm)
        add_norm(builder, "final_norm", KernelUse::residual_stream);
    if (s.model.bert_heads)
        add_bert_heads(builder, tokens);
    if (tokens > 0)
        add_logits(builder, tokens);
    const KernelStyle& style = s.partition.kernels;
    LayerWork work = finished(builder, style.head_launches - embedding_launches(style));
    work.tensors = head_tensors(s, tokens);
    work.saved = kept_bytes(work.tensors);
    return work;
}

} // namespace trainyard
