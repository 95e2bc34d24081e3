#include "sim/workload/parameters.h"

#include "sim/workload/encoder_work.h"
#include "sim/workload/layer_parts.h"
#include "sim/workload/recurrent_mixer.h"

#include <algorithm>

namespace trainyard {
namespace {

using ParameterTensors = std::vector<ParameterTensor>;

void add_norm(ParameterTensors& tensors, const Transformer& model, double size)
{
    tensors.push_back(norm_tensor(model.norm, size));
}

// Gates of the heads' results, made of the layer's input.
void add_gate(ParameterTensors& tensors, const Transformer& model, double results)
{
    if (model.attention_gate)
        tensors.push_back(
            matrix("attention_gate", {static_cast<double>(model.hidden), results}, Cut::heads));
}

// The heads' results back to the residual stream, with a latent of each group in between or
// without.
void add_attention_output(ParameterTensors& tensors, const Transformer& model, double results)
{
    const double h = static_cast<double>(model.hidden);
    if (model.output_rank > 0) {
        const auto rank = static_cast<double>(model.output_rank);
        tensors.push_back(matrix("output_down",
                                 {results / model.output_groups, rank, 1.0 * model.output_groups},
                                 Cut::heads));
        tensors.push_back(
            matrix("attention_output", {rank * model.output_groups, h, 1, true}, Cut::heads));
    } else {
        tensors.push_back(matrix("attention_output", {results, h, 1, true}, Cut::heads));
    }
}

void add_latent_attention(ParameterTensors& tensors, const Transformer& model)
{
    const LatentAttention& latent = *model.latent;
    const double h = static_cast<double>(model.hidden);
    const double query = static_cast<double>(latent.q_lora_rank);
    const double kv = static_cast<double>(latent.kv_lora_rank);
    const double q_columns = model.heads * static_cast<double>(latent.head_dim());
    const double kv_columns =
        model.heads * static_cast<double>(latent.qk_nope_head_dim + latent.v_head_dim);
    if (query > 0) {
        tensors.push_back(matrix("q_down", {h, query}, Cut::whole));
        add_norm(tensors, model, query);
    }
    tensors.push_back(matrix("q_up", {query > 0 ? query : h, q_columns}, Cut::heads));
    tensors.push_back(
        matrix("kv_down", {h, kv + static_cast<double>(latent.qk_rope_head_dim)}, Cut::whole));
    add_norm(tensors, model, kv);
    tensors.push_back(matrix("kv_up", {kv, kv_columns}, Cut::heads));
    const double results = model.heads * static_cast<double>(latent.v_head_dim);
    add_gate(tensors, model, results);
    add_attention_output(tensors, model, results);
}

struct KeyValueColumns {
    double keys = 0;
    double values = 0;
};

void add_key_values(ParameterTensors& tensors, const Transformer& model,
                    const KeyValueColumns& columns)
{
    if (model.earlier_keys)
        return;
    const double h = static_cast<double>(model.hidden);
    const auto add = [&](std::string_view name, const Matrices& m) {
        tensors.push_back(of_key_heads(matrix(name, m, Cut::kv_heads), model.kv_heads));
    };
    if (columns.keys == columns.values)
        return add("kv", {h, columns.keys, 2});
    add("kv", {h, columns.keys, 1});
    if (columns.values > 0)
        add("values", {h, columns.values, 1});
}

void add_attention(ParameterTensors& tensors, const Transformer& model)
{
    if (model.latent)
        return add_latent_attention(tensors, model);
    const double h = static_cast<double>(model.hidden);
    const double d = static_cast<double>(model.head_dim);
    const double q = model.heads * d;
    const double results = model.heads * static_cast<double>(model.value_dim());
    const double k = model.kv_heads * d;
    const double v =
        model.shared_key_value ? 0 : model.kv_heads * 1.0 * static_cast<double>(model.value_dim());
    if (model.query_rank > 0) {
        const auto rank = static_cast<double>(model.query_rank);
        tensors.push_back(matrix("q_down", {h, rank}, Cut::whole));
        add_norm(tensors, model, rank);
        tensors.push_back(matrix("q", {rank, q}, Cut::heads));
    } else {
        tensors.push_back(matrix("q", {h, q}, Cut::heads));
    }
    add_gate(tensors, model, results);
    add_key_values(tensors, model, {k, v});
    add_attention_output(tensors, model, results);
    if (model.global_projections) {
        tensors.push_back(matrix("global_projections", {h, q + k + v}, Cut::heads, 0));
        if (model.attention_bias || model.linear_bias)
            tensors.push_back({"global_bias", q + k + v, Cut::heads});
    }
    if (model.key_compression > 1)
        tensors.push_back(matrix("key_compression",
                                 {h, static_cast<double>(compressor_columns(model))}, Cut::whole));
    if (model.attention_bias || model.linear_bias) {
        tensors.push_back({"q_bias", q, Cut::heads});
        if (!model.earlier_keys)
            tensors.push_back(of_key_heads({"kv_bias", k + v, Cut::kv_heads}, model.kv_heads));
    }
    if (model.attention_output_bias || model.linear_bias)
        tensors.push_back({"attention_output_bias", h});
    if (model.qk_norm)
        for (int i = 0; i < 2; ++i)
            add_norm(tensors, model, d);
}

// Its queries come from the queries' latent where there is one.
void add_indexer(ParameterTensors& tensors, const Transformer& model)
{
    const SparseIndexer& indexer = *model.indexer;
    const double h = static_cast<double>(model.hidden);
    const double d = static_cast<double>(indexer.head_dim);
    const std::int64_t latent = model.latent ? model.latent->q_lora_rank : model.query_rank;
    const double inputs = latent > 0 ? static_cast<double>(latent) : h;
    tensors.push_back(matrix("indexer_query", {inputs, indexer.heads * d}, Cut::whole));
    tensors.push_back(matrix("indexer_key", {h, d}, Cut::whole));
    tensors.push_back({"indexer_key_norm", 2 * d});
    tensors.push_back(matrix("indexer_weights", {h, 1.0 * indexer.heads}, Cut::whole));
}

void add_mixer(ParameterTensors& tensors, const Transformer& model)
{
    if (model.is_recurrent()) {
        for (const ParameterTensor& tensor : recurrent_parameters(model))
            tensors.push_back(tensor);
    } else if (model.mixer == MixerKind::attention) {
        add_attention(tensors, model);
        if (model.attention_sinks)
            tensors.push_back({"attention_sinks", 1.0 * model.heads, Cut::heads});
        if (model.indexer)
            add_indexer(tensors, model);
    }
}

void add_mlp(ParameterTensors& tensors, const Transformer& model, double ffn)
{
    const double h = static_cast<double>(model.hidden);
    const double up = model.gated_mlp ? 2 : 1;
    tensors.push_back(matrix("mlp_up", {h, ffn, up}, Cut::columns));
    tensors.push_back(matrix("mlp_down", {ffn, h, 1, true}, Cut::columns));
    if (model.mlp_bias || model.linear_bias) {
        tensors.push_back({"mlp_up_bias", up * ffn, Cut::columns});
        tensors.push_back({"mlp_down_bias", h});
    }
}

void add_experts(ParameterTensors& tensors, const Transformer& model)
{
    const MixtureOfExperts& moe = *model.moe;
    const double h = static_cast<double>(model.hidden);
    const double ffn = static_cast<double>(moe.expert_ffn);
    const double up = model.gated_mlp ? 2 : 1;
    const double chosen = moe.computed_per_token() / moe.experts;
    const double routes = moe.experts + moe.identity_experts;
    const double width = moe.latent_width > 0 ? static_cast<double>(moe.latent_width) : h;
    tensors.push_back(matrix("router", {h, routes}, Cut::whole));
    if (moe.latent_width > 0) {
        tensors.push_back(matrix("expert_input", {h, width}, Cut::whole));
        tensors.push_back(matrix("expert_result", {width, h}, Cut::whole));
    }
    tensors.push_back(matrix("expert_up", {width, ffn, up * moe.experts}, Cut::experts, chosen));
    tensors.push_back(
        matrix("expert_down", {ffn, width, 1.0 * moe.experts, true}, Cut::experts, chosen));
    if (model.mlp_bias || model.linear_bias) {
        tensors.push_back({"router_bias", static_cast<double>(moe.experts)});
        tensors.push_back(
            {"expert_bias", (up * ffn + h) * moe.experts, Cut::experts, false, chosen});
    }
    if (moe.shared_expert_ffn > 0)
        add_mlp(tensors, model, static_cast<double>(moe.shared_expert_ffn));
    if (moe.shared_expert_gate)
        tensors.push_back(matrix("shared_expert_gate", {h, 1}, Cut::whole));
}

ParameterTensors embedding_tensors(const Transformer& model)
{
    const double h = static_cast<double>(model.hidden);
    ParameterTensors tensors;
    const auto vocabulary = static_cast<double>(model.vocabulary);
    const auto width = static_cast<double>(model.embedding_width);
    // BERT's kin sum tokens, positions and types, and norm them, before they are widened.
    const double summed = model.embedding_width > 0 && model.token_types > 0 ? width : h;
    const auto table = [&](std::string_view name, double rows, Cut cut) {
        tensors.push_back({name, rows * summed, cut, false, 1, rows, summed, 1, true});
    };
    if (model.input_elements > 0) {
        tensors.push_back(
            matrix("input", {static_cast<double>(model.input_elements), h}, Cut::whole));
        tensors.push_back({"input_bias", h});
    } else if (model.embedding_width > 0) {
        tensors.push_back({"embedding", vocabulary * width, Cut::vocabulary, false, 1, vocabulary,
                           width, 1, true});
        tensors.push_back(matrix("embedding_projection", {width, h}, Cut::whole));
    } else {
        table("embedding", vocabulary, Cut::vocabulary);
    }
    if (model.layer_embedding_width > 0) {
        const auto all = static_cast<double>(model.layer_embedding_width * model.layers);
        tensors.push_back({"layer_embedding", vocabulary * all, Cut::vocabulary, false, 1,
                           vocabulary, all, 1, true});
        tensors.push_back(matrix("layer_embedding_projection", {h, all}, Cut::whole));
        add_norm(tensors, model, static_cast<double>(model.layer_embedding_width));
    }
    if (model.position == PositionKind::learned)
        table("positions", static_cast<double>(model.max_positions), Cut::whole);
    if (model.token_types > 0)
        table("token_types", model.token_types, Cut::whole);
    if (model.embedding_norm)
        add_norm(tensors, model, summed);
    return tensors;
}

ParameterTensors head_tensors(const Transformer& model)
{
    const double h = static_cast<double>(model.hidden);
    const double vocabulary = static_cast<double>(model.vocabulary);
    ParameterTensors tensors;
    if (model.final_norm)
        add_norm(tensors, model, h);
    if (model.bert_heads) {
        // The pooler and the next-sentence head see one token of a sequence: no token share here.
        tensors.push_back({"pooler", h * h + h});
        tensors.push_back({"next_sentence", 2 * h + 2});
        const auto width = static_cast<double>(logits_width(model));
        tensors.push_back(
            matrix("masked_token_transform", {h, width}, Cut::whole, model.head_fraction));
        tensors.push_back({"masked_token_bias", width});
        add_norm(tensors, model, width);
    }
    if (model.embedding_width > 0 && !model.bert_heads) // back to the table's width, which is tied
        tensors.push_back(matrix("logits_projection",
                                 {h, static_cast<double>(model.embedding_width)}, Cut::whole,
                                 model.head_fraction));
    else if (model.embedding_width == 0 && !model.tied_embeddings)
        tensors.push_back(matrix("logits", {h, vocabulary}, Cut::vocabulary, model.head_fraction));
    if (model.head_bias || model.bert_heads)
        tensors.push_back({"logits_bias", vocabulary, Cut::vocabulary});
    return tensors;
}

// What a prediction layer has besides a layer: norms of the state and of the next token's
// embedding, the projection of both, a final norm. The matrix of its logits is the head's.
void add_prediction(ParameterTensors& tensors, const Transformer& model)
{
    const double h = static_cast<double>(model.hidden);
    for (int i = 0; i < 3; ++i)
        add_norm(tensors, model, h);
    tensors.push_back(matrix("prediction_input", {2 * h, h}, Cut::columns));
}

// What a layer takes from its own embedding of the tokens: a gate, a matrix to the model's width, a
// norm.
void add_layer_embedding(ParameterTensors& tensors, const Transformer& model)
{
    const double h = static_cast<double>(model.hidden);
    const auto width = static_cast<double>(model.layer_embedding_width);
    tensors.push_back(matrix("layer_embedding_gate", {h, width}, Cut::whole));
    tensors.push_back(matrix("layer_embedding_result", {width, h}, Cut::whole));
    add_norm(tensors, model, h);
}

// Norms before the parts of a layer and, with four of them, after.
int norms_of(const Transformer& model, const LayerKind& kind)
{
    const bool mixer = model.mixer != MixerKind::none;
    if (mixer && kind.channel)
        return model.norms_per_layer;
    return std::max(1, model.norms_per_layer / 2);
}

} // namespace

std::int64_t logits_width(const Transformer& model)
{
    return model.embedding_width > 0 ? model.embedding_width : model.hidden;
}

ParameterTensor matrix(std::string_view name, const Matrices& m, Cut cut, double token_share)
{
    return {name,        m.rows * m.columns * m.copies,
            cut,         true,
            token_share, m.rows,
            m.columns,   m.copies,
            m.by_rows};
}

ParameterTensor of_key_heads(ParameterTensor tensor, int heads)
{
    tensor.most_parts = heads;
    return tensor;
}

ParameterTensor norm_tensor(NormKind kind, double size)
{
    const double vectors = kind == NormKind::layer_norm ? 2 : 1; // scale, shift
    return {"norm", vectors * size};
}

std::vector<ParameterTensor> parameter_tensors(const Transformer& whole, const LayerKind& kind)
{
    const LayerModel of_kind(whole, kind);
    const Transformer& model = *of_kind;
    if (kind.encoder >= 0 && kind.role == LayerKind::Role::embedding)
        return encoder_end_tensors(whole, kind);
    switch (kind.role) {
    case LayerKind::Role::embedding:
        return embedding_tensors(model);
    case LayerKind::Role::head:
        return head_tensors(model);
    default:
        break;
    }
    ParameterTensors tensors;
    for (int i = 0; i < norms_of(model, kind); ++i)
        add_norm(tensors, model, static_cast<double>(model.hidden));
    if (kind.predicts_further)
        add_prediction(tensors, model);
    add_mixer(tensors, model);
    if (model.cross_attention)
        for (const ParameterTensor& tensor : cross_attention_tensors(whole, model))
            tensors.push_back(tensor);
    if (kind.channel && kind.role == LayerKind::Role::moe)
        add_experts(tensors, model);
    else if (kind.channel)
        add_mlp(tensors, model, static_cast<double>(model.ffn));
    if (model.layer_embedding_width > 0 && kind.encoder < 0)
        add_layer_embedding(tensors, model);
    for (ParameterTensor& tensor : tensors)
        tensor.shared = kind.shares;
    return tensors;
}

double held_elements(const ParameterTensor& tensor, const Transformer& model,
                     const Partition& partition)
{
    if (tensor.shared)
        return 0;
    switch (tensor.cut) {
    case Cut::whole:
        return tensor.elements;
    case Cut::heads:
    case Cut::columns:
        return tensor.elements / partition.tp;
    case Cut::kv_heads:
        return tensor.elements / std::min(partition.tp, tensor.most_parts);
    case Cut::vocabulary: {
        const std::int64_t padded = std::max(partition.padded_vocabulary, model.vocabulary);
        return tensor.elements / static_cast<double>(model.vocabulary) *
               static_cast<double>(padded) / partition.vocabulary_ranks();
    }
    case Cut::experts:
        return tensor.elements / (partition.ep * partition.etp);
    }
    return tensor.elements;
}

// Experts are spread over EP whole; within one, ETP cuts as TP does.
HeldMatrices held_matrices(const ParameterTensor& tensor, const Transformer& model,
                           const Partition& partition)
{
    HeldMatrices held{tensor.rows, tensor.columns, tensor.copies};
    const double whole = tensor.rows * tensor.columns * tensor.copies;
    if (whole == 0)
        return held;
    double parts = whole / held_elements(tensor, model, partition);
    if (tensor.cut == Cut::experts) {
        held.copies /= partition.ep;
        parts = partition.etp;
    }
    (tensor.by_rows ? held.rows : held.columns) /= parts;
    return held;
}

ParameterCount count_parameters(const Model& model)
{
    ParameterCount count;
    if (const auto* list = std::get_if<LayerList>(&model.architecture)) {
        for (const NativeLayer& layer : list->layers)
            count.total += static_cast<double>(layer.parameters) * layer.repeat;
        count.active = count.total;
        return count;
    }
    const Transformer& transformer = std::get<Transformer>(model.architecture);
    for (const LayerKind& kind : layers_of(model))
        for (const ParameterTensor& tensor : parameter_tensors(transformer, kind)) {
            if (tensor.shared)
                continue;
            count.total += tensor.elements;
            count.active += tensor.active_elements();
            if (kind.role == LayerKind::Role::embedding && tensor.name != "norm")
                count.embedding += tensor.elements;
        }
    return count;
}

} // namespace trainyard
