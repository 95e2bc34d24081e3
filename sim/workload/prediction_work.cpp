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
    builder.pass({"next_embedding", bytes, bytes, KernelUse::embedding});
    add_norm(builder, "next_embedding_norm", KernelUse::embedding);
    add_norm(builder, "state_norm", KernelUse::residual_stream);
    Linear projection{"prediction_input",
                      {s.tokens, divided_up(s.hidden, s.partition.tp), 2 * s.hidden},
                      KernelUse::residual_stream,
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
    add_norm(logits, "final_norm", KernelUse::residual_stream);
    add_logits(logits, vocabulary_tokens(s));
    put_before(layer.forward, input.forward());
    append(layer.forward, logits.forward());
    put_before(layer.backward, logits.backward());
    append(layer.backward, input.backward());

    const std::int64_t joined = 2 * s.split_tokens * s.hidden;
    layer.tensors.push_back({.name = "prediction_norm_inputs",
                             .bytes = s.width * joined,
                             .made_by = "next_embedding",
                             .until = "state_norm",
                             .kept_until = "state_norm_backward|next_embedding_norm_backward"});
    if (!s.partition.lora)
        layer.tensors.push_back(
            {.name = "prediction_input",
             .bytes = s.narrow() ? s.cast_bytes(joined) : s.width * joined,
             .made_by = "state_norm",
             .until = "prediction_input",
             .kept_until = "prediction_input_input_gradient|prediction_input_weight_gradient"});
    for (LayerTensor& tensor : head_tensors(s, vocabulary_tokens(s)))
        if (std::ranges::find(layer.tensors, tensor.name, &LayerTensor::name) ==
            layer.tensors.end()) {
            if (tensor.use == TensorUse::input)
                tensor.use = TensorUse::kept;
            if (tensor.name == "final_norm_input")
                tensor.made_by = "mlp_residual";
            layer.tensors.push_back(std::move(tensor));
        }
}

} // namespace trainyard
