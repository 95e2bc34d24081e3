#include "sim/workload/kernel.h"
#include "sim/workload/parameters.h"

namespace trainyard {
namespace {

// Operations of the forward pass of one sequence in one layer: products with matrices, and between
// activations.
struct ForwardFlops {
    double matrices = 0;
    double attention = 0;
};

ForwardFlops forward_flops(const Transformer& model, const LayerKind& kind, double sequence_length,
                           const std::vector<std::int64_t>& documents)
{
    double per_token = 0;
    for (const ParameterTensor& tensor : parameter_tensors(model, kind))
        if (tensor.matrix)
            per_token += 2 * tensor.elements * tensor.token_share;
    const double h = static_cast<double>(model.hidden);
    double per_sequence = 0;
    double attention = 0;
    if (kind.role == LayerKind::Role::head) {
        if (model.tied_embeddings)
            per_token += 2 * h * static_cast<double>(model.vocabulary) * model.head_fraction;
        if (model.bert_heads)
            per_sequence += 2 * (h * h + 2 * h);
    }
    if (kind.predicts_further) // its logits; the matrix is listed with the head or the embedding
        per_token += 2 * h * static_cast<double>(model.vocabulary);
    if (kind.role == LayerKind::Role::dense || kind.role == LayerKind::Role::moe) {
        const AttentionMask mask{model.causal, kind.windowed ? model.sliding_window : 0};
        const double pairs = documents.empty()
                                 ? visible_pairs(sequence_length, sequence_length, mask)
                                 : document_pairs(documents, mask);
        attention =
            2 * static_cast<double>(model.head_dim + model.value_dim()) * model.heads * pairs;
    }
    return {per_token * sequence_length + per_sequence, attention};
}

} // namespace

Flops model_flops_per_sequence(const Model& model, std::int64_t sequence_length,
                               const std::vector<std::int64_t>& documents)
{
    double forward = 0;
    if (const auto* list = std::get_if<LayerList>(&model.architecture)) {
        for (const NativeLayer& layer : list->layers)
            forward += 2.0 * static_cast<double>(layer.rows) * static_cast<double>(layer.columns) *
                       static_cast<double>(layer.inner) * layer.repeat;
    } else {
        const Transformer& transformer = std::get<Transformer>(model.architecture);
        for (const LayerKind& kind : layers_of(model)) {
            const ForwardFlops flops =
                forward_flops(transformer, kind, static_cast<double>(sequence_length), documents);
            forward += flops.matrices + flops.attention;
        }
    }
    return Flops(3 * forward);
}

Flops adapter_flops_per_sequence(const Model& model, const Lora& lora, std::int64_t sequence_length,
                                 const std::vector<std::int64_t>& documents)
{
    const Transformer& transformer = std::get<Transformer>(model.architecture);
    const auto s = static_cast<double>(sequence_length);
    double sum = 0;
    for (const LayerKind& kind : layers_of(model)) {
        const ForwardFlops frozen = forward_flops(transformer, kind, s, documents);
        sum += 2 * frozen.matrices + 3 * frozen.attention;
        for (const ParameterTensor& half : adapter_tensors(transformer, kind, lora))
            sum += 3 * 2 * half.elements * s;
    }
    return Flops(sum);
}

Flops megatron_flops_per_sequence(const Transformer& model, std::int64_t sequence_length,
                                  bool full_recompute)
{
    const double factor = full_recompute ? 96 : 72;
    const double s = static_cast<double>(sequence_length);
    const double l = model.layers;
    const double h = static_cast<double>(model.hidden);
    const double V = static_cast<double>(model.vocabulary);
    return Flops(factor * s * l * h * h * (1 + s / (6 * h) + V / (16 * l * h)));
}

} // namespace trainyard
