#include "sim/workload/encoder_work.h"
#include "sim/workload/kernel.h"
#include "sim/workload/parameters.h"
#include "sim/workload/recurrent_mixer.h"
#include "sim/workload/sparse_indexer.h"

#include <algorithm>

namespace trainyard {
namespace {

// Operations of the forward pass of one sequence in one layer: products with matrices, and between
// activations.
struct ForwardFlops {
    double matrices = 0;
    double attention = 0;
};

double mixer_flops(const Transformer& model, double sequence_length,
                   const std::vector<std::int64_t>& documents)
{
    if (model.is_recurrent())
        return recurrent_flops_per_token(model) * sequence_length;
    if (model.mixer == MixerKind::none)
        return 0;
    const auto length = static_cast<std::int64_t>(sequence_length);
    const std::vector<std::int64_t> pieces =
        attention_pieces(documents, length, model.attention_chunk);
    const auto pairs_of = [&](const AttentionMask& mask) {
        return pieces.empty() ? visible_pairs(sequence_length, sequence_length, mask)
                              : document_pairs(pieces, mask);
    };
    const double core = 2 * static_cast<double>(model.head_dim + model.value_dim()) * model.heads *
                        pairs_of({model.causal, model.keys_per_query(length)});
    if (!model.indexer)
        return core;
    // Forward scores all keys, backward learns from those chosen; three times this is both.
    const double scored = pairs_of({model.causal, 0}) / model.key_compression;
    const double chosen = sequence_length * model.picked_keys(sequence_length);
    return core +
           (indexer_flops(*model.indexer, scored) + 2 * indexer_flops(*model.indexer, chosen)) / 3;
}

ForwardFlops forward_flops(const Transformer& whole, const LayerKind& kind, double sequence_length,
                           const std::vector<std::int64_t>& documents, double kept)
{
    const LayerModel of_kind(whole, kind);
    const Transformer& model = *of_kind;
    if (kind.encoder >= 0)
        sequence_length =
            static_cast<double>(whole.encoders[static_cast<std::size_t>(kind.encoder)].tokens);
    double per_token = 0;
    double per_sequence = 0;
    for (const ParameterTensor& tensor : parameter_tensors(whole, kind))
        if (tensor.matrix && tensor.of_source)
            per_sequence += 2 * tensor.elements * static_cast<double>(source_tokens(whole));
        else if (tensor.matrix)
            per_token +=
                2 * tensor.elements * tensor.token_share * (tensor.cut == Cut::experts ? kept : 1);
    const double h = static_cast<double>(model.hidden);
    double attention = 0;
    const double width = static_cast<double>(logits_width(model));
    if (kind.role == LayerKind::Role::head) {
        if (model.tied_embeddings || model.embedding_width > 0)
            per_token += 2 * width * static_cast<double>(model.vocabulary) * model.head_fraction;
        if (model.bert_heads)
            per_sequence += 2 * (h * h + 2 * h);
    }
    if (kind.predicts_further) { // its logits; the matrices are listed with head and embedding
        per_token += 2 * width * static_cast<double>(model.vocabulary);
        if (model.embedding_width > 0 && !model.bert_heads)
            per_token += 2 * h * width;
    }
    if (kind.role == LayerKind::Role::dense || kind.role == LayerKind::Role::moe)
        attention = mixer_flops(model, sequence_length,
                                kind.encoder >= 0 ? std::vector<std::int64_t>() : documents);
    if (kind.role != LayerKind::Role::embedding && kind.role != LayerKind::Role::head &&
        model.cross_attention)
        attention += cross_attention_flops(whole, model, sequence_length);
    return {per_token * sequence_length + per_sequence, attention};
}

} // namespace

Flops forward_flops_per_sequence(const Transformer& model, const LayerKind& kind,
                                 std::int64_t sequence_length)
{
    const ForwardFlops flops =
        forward_flops(model, kind, static_cast<double>(sequence_length), {}, 1);
    return Flops(flops.matrices + flops.attention);
}

Flops model_flops_per_sequence(const Model& model, std::int64_t sequence_length,
                               const std::vector<std::int64_t>& documents, double kept)
{
    double forward = 0;
    if (const auto* list = std::get_if<LayerList>(&model.architecture)) {
        for (const NativeLayer& layer : list->layers)
            forward += 2.0 * static_cast<double>(layer.rows) * static_cast<double>(layer.columns) *
                       static_cast<double>(layer.inner) * layer.repeat;
    } else {
        const Transformer& transformer = std::get<Transformer>(model.architecture);
        for (const LayerKind& kind : layers_of(model)) {
            const ForwardFlops flops = forward_flops(
                transformer, kind, static_cast<double>(sequence_length), documents, kept);
            forward += flops.matrices + flops.attention;
        }
    }
    return Flops(3 * forward);
}

Flops adapter_flops_per_sequence(const Model& model, const Lora& lora, std::int64_t sequence_length,
                                 const std::vector<std::int64_t>& documents, double kept)
{
    const Transformer& transformer = std::get<Transformer>(model.architecture);
    const auto s = static_cast<double>(sequence_length);
    double sum = 0;
    for (const LayerKind& kind : layers_of(model)) {
        const ForwardFlops frozen = forward_flops(transformer, kind, s, documents, kept);
        sum += 2 * frozen.matrices + 3 * frozen.attention;
        for (const ParameterTensor& half : adapter_tensors(transformer, kind, lora))
            sum += 3 * 2 * half.elements * s;
    }
    return Flops(sum);
}

} // namespace trainyard
