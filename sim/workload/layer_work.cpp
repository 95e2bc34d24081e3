#include "sim/workload/layer_work.h"

#include "sim/workload/encoder_work.h"
#include "sim/workload/layer_parts.h"
#include "sim/workload/parameters.h"
#include "sim/workload/recurrent_mixer.h"

#include <algorithm>

namespace trainyard {
namespace {

// A gate lets a part of the layer's own embedding of the tokens into the stream (Gemma 3n). The
// narrow matrices are whole on every TP rank and meet its tokens.
void add_layer_embedding(WorkBuilder& builder)
{
    const LayerShape& s = builder.shape();
    const std::int64_t width = s.model.layer_embedding_width;
    builder.linear(
        {"layer_embedding_gate", {s.split_tokens, width, s.hidden}, KernelUse::embedding});
    builder.linear(
        {"layer_embedding_result", {s.split_tokens, s.hidden, width}, KernelUse::embedding});
    add_norm(builder, "layer_embedding_norm", KernelUse::embedding);
    add_residual(builder, "layer_embedding_residual", KernelUse::embedding);
}

// Norms sit before (or, in encoders, after) attention and MLP: the work is the same.
void add_parts(WorkBuilder& builder)
{
    const LayerShape& s = builder.shape();
    const int norms = s.model.norms_per_layer;
    if (s.has_mixer()) {
        const KernelUse use = s.model.is_recurrent() ? KernelUse::recurrence : KernelUse::attention;
        add_norm(builder, "attention_norm", use);
        if (s.model.is_recurrent())
            add_recurrent_mixer(builder);
        else
            add_attention(builder);
        if (norms > 2)
            add_norm(builder, "attention_post_norm", use);
        if (!s.model.parallel_blocks || !s.has_channel())
            add_residual(builder, "attention_residual", use);
    }
    if (s.model.cross_attention)
        add_cross_attention(builder);
    if (!s.has_channel())
        return;
    if (norms > 1 || !s.has_mixer())
        add_norm(builder, "mlp_norm", KernelUse::mlp);
    if (s.kind.role == LayerKind::Role::moe)
        add_experts(builder);
    else
        add_mlp(builder, "mlp", s.model.ffn);
    if (norms > 3)
        add_norm(builder, "mlp_post_norm", KernelUse::mlp);
    add_residual(builder, "mlp_residual", KernelUse::mlp);
}

void add_layer(WorkBuilder& builder)
{
    add_parts(builder);
    if (builder.shape().model.layer_embedding_width > 0)
        add_layer_embedding(builder);
}

struct LaunchTargets {
    int forward = 0; // 0: as listed
    int backward = 0;
};

LaunchTargets launch_targets(const LayerShape& s)
{
    const KernelStyle& style = s.partition.kernels;
    const bool moe = s.kind.role == LayerKind::Role::moe;
    const int fp8 = s.narrow() ? style.fp8_launches : 0;
    const int ring = ring_launches(s);
    // Frameworks' counts are of a layer with attention and a channel part: one alone has half.
    const bool one_part = !s.model.is_recurrent() && (!s.has_mixer() || !s.has_channel());
    const auto of_layer = [&](int launches) { return one_part ? launches / 2 : launches; };
    LaunchTargets targets;
    const AdaptedColumns adapted(s);
    const int adapters = static_cast<int>(adapted.qkv.size() + adapted.output.size() +
                                          adapted.up.size() + adapted.down.size());
    if (style.layer_launches_forward > 0)
        targets.forward = of_layer(style.layer_launches_forward) +
                          (moe ? style.moe_launches_forward : 0) + fp8 + ring +
                          adapters * adapter_launches_forward;
    if (style.layer_launches_backward > 0)
        targets.backward = of_layer(style.layer_launches_backward) +
                           (moe ? style.moe_launches_backward : 0) + fp8 + ring +
                           adapters * adapter_launches_backward;
    return targets;
}

// Beyond one for each kernel listed: those issued expert by expert.
int expert_launches(const WorkList& items)
{
    int sum = 0;
    for (const WorkItem& item : items)
        if (const auto* kernel = std::get_if<Kernel>(&item))
            if (kernel->use == KernelUse::expert)
                sum += kernel->launches - 1;
    return sum;
}

std::optional<GraphedPart> graphed_part(const Kernel& kernel)
{
    switch (kernel.use) {
    case KernelUse::attention:
    case KernelUse::attention_square:
        return GraphedPart::attention;
    case KernelUse::recurrence:
    case KernelUse::recurrence_core:
        return GraphedPart::recurrence;
    case KernelUse::mlp:
        return GraphedPart::mlp;
    case KernelUse::router:
        return GraphedPart::router;
    default:
        return std::nullopt;
    }
}

// A captured part is one launch, where the layer comes to it and again behind each communication.
void capture(WorkList& items, const LayerShape& s)
{
    const std::vector<GraphedPart>& graphed = s.partition.kernels.graphed;
    bool open = false;
    for (WorkItem& item : items) {
        auto* kernel = std::get_if<Kernel>(&item);
        const auto part = kernel != nullptr ? graphed_part(*kernel) : std::nullopt;
        const bool captured = part && std::ranges::find(graphed, *part) != graphed.end();
        if (captured)
            kernel->launches = open ? 0 : 1;
        open = captured;
    }
}

LayerWork transformer_layer(const LayerShape& s)
{
    WorkBuilder builder(s);
    add_layer(builder);
    LayerWork work;
    work.forward = builder.forward();
    work.backward = builder.backward();
    const LaunchTargets targets = launch_targets(s);
    if (targets.forward > 0)
        set_launches(work.forward, targets.forward + expert_launches(work.forward));
    if (targets.backward > 0)
        set_launches(work.backward, targets.backward + expert_launches(work.backward));
    capture(work.forward, s);
    capture(work.backward, s);
    work.selective_recompute = items_again(s, work.forward);
    set_parameters(work, s);
    work.tensors = transformer_tensors(s);
    work.output = boundary_bytes(s);
    if (s.kind.predicts_further)
        add_prediction(work, s);
    work.saved = kept_bytes(work.tensors);
    return work;
}

} // namespace

namespace {

// The base is frozen. Of an adapter's halves the whole one meets a part of the columns or rows on
// each TP rank.
void set_adapters(LayerWork& work, const LayerShape& s)
{
    work.trained = {};
    work.summed_over_tp = 0;
    for (const ParameterTensor& tensor : adapter_tensors(s.whole, s.kind, *s.partition.lora)) {
        const double elements = held_elements(tensor, s.model, s.partition);
        work.trained.dense += elements;
        if (tensor.cut == Cut::whole && s.tensor_parallel)
            work.summed_over_tp += elements;
    }
    work.parameters.dense += work.trained.dense;
}

} // namespace

// Norms' gradients are a few KB beside those of whole matrices.
void set_parameters(LayerWork& work, const LayerShape& s)
{
    for (const ParameterTensor& tensor : parameter_tensors(s.whole, s.kind)) {
        const double elements = held_elements(tensor, s.model, s.partition);
        (tensor.cut == Cut::experts ? work.parameters.expert : work.parameters.dense) += elements;
        if (tensor.matrix && tensor.cut == Cut::whole && s.sequence_parallel &&
            s.kind.role != LayerKind::Role::head)
            work.summed_over_tp += elements;
        if (tensor.cut == Cut::vocabulary && !s.partition.vocabulary_parallel &&
            s.sequence_parallel)
            work.summed_over_tp += elements;
    }
    work.trained = work.parameters;
    if (s.partition.lora)
        set_adapters(work, s);
}

Bytes boundary_bytes(const LayerShape& s)
{
    return Bytes(static_cast<std::uint64_t>(s.width * s.split_tokens * s.hidden));
}

LayerModel::LayerModel(const Transformer& model, const LayerKind& kind) : model_(model)
{
    if (kind.encoder >= 0) {
        own_ = encoder_stack(model, model.encoders[static_cast<std::size_t>(kind.encoder)]);
        return;
    }
    const bool sees_all = model.sliding_window > 0 && !kind.windowed && model.key_compression == 1;
    if (kind.form < 0 && !sees_all)
        return;
    Transformer own = model;
    if (kind.form >= 0) {
        const LayerForm& form = model.layer_forms[static_cast<std::size_t>(kind.form)];
        const auto take = [](auto& to, const auto& from) {
            if (from)
                to = *from;
        };
        take(own.mixer, form.mixer);
        take(own.recurrence, form.recurrence);
        take(own.heads, form.heads);
        take(own.kv_heads, form.kv_heads);
        take(own.head_dim, form.head_dim);
        take(own.sliding_window, form.sliding_window);
        take(own.attention_chunk, form.attention_chunk);
        take(own.ffn, form.ffn);
        take(own.position, form.position);
        take(own.shared_key_value, form.shared_key_value);
        take(own.indexer, form.indexer);
        take(own.cross_attention, form.cross_attention);
        take(own.key_compression, form.key_compression);
        own.earlier_keys = form.earlier_keys;
        if (form.latent) {
            own.latent = form.latent;
            own.kv_heads = own.heads;
            own.head_dim = own.latent->head_dim();
        }
        if (own.mixer != MixerKind::attention) {
            own.latent.reset();
            own.indexer.reset();
        }
        own.layer_forms.clear();
        own.pattern.clear();
    }
    if (sees_all)
        own.sliding_window = 0;
    own_ = std::move(own);
}

namespace {

// Layers that predict further are as the last layer with attention and a channel part, or as the
// last where there is none such.
int predicting_form(const Transformer& model)
{
    for (int layer = model.layers - 1; layer >= 0 && !model.pattern.empty(); --layer) {
        const LayerForm& form =
            model.layer_forms[static_cast<std::size_t>(form_number(model, layer))];
        if (form.mixer.value_or(model.mixer) == MixerKind::attention &&
            form.channel != ChannelKind::none)
            return layer;
    }
    return model.layers - 1;
}

int first_of_form(const Transformer& model, int form)
{
    for (int layer = 0; layer < model.layers; ++layer)
        if (form_number(model, layer) == form)
            return layer;
    return 0;
}

} // namespace

std::vector<LayerKind> layers_of(const Model& model)
{
    using Role = LayerKind::Role;
    std::vector<LayerKind> layers;
    if (const auto* list = std::get_if<LayerList>(&model.architecture)) {
        for (std::size_t i = 0; i < list->layers.size(); ++i)
            layers.insert(layers.end(), static_cast<std::size_t>(list->layers[i].repeat),
                          LayerKind{Role::native, static_cast<int>(i)});
        return layers;
    }
    const Transformer& transformer = std::get<Transformer>(model.architecture);
    for (std::size_t e = 0; e < transformer.encoders.size(); ++e) {
        LayerKind kind{Role::embedding};
        kind.encoder = static_cast<int>(e);
        layers.push_back(kind);
        kind.role = Role::dense;
        layers.insert(layers.end(), static_cast<std::size_t>(transformer.encoders[e].layers), kind);
    }
    layers.push_back({Role::embedding});
    const auto kind_of = [&](int layer) {
        LayerKind kind{is_moe_layer(transformer, layer) ? Role::moe : Role::dense};
        kind.form = form_number(transformer, layer);
        kind.channel = has_channel(transformer, layer);
        kind.windowed = has_window(transformer, layer);
        kind.shares = transformer.shared_layers && layer > 0;
        if (kind.form >= 0 && layer < transformer.layers)
            kind.shares |= transformer.layer_forms[static_cast<std::size_t>(kind.form)].shared &&
                           layer > first_of_form(transformer, kind.form);
        return kind;
    };
    for (int i = 0; i < transformer.layers; ++i)
        layers.push_back(kind_of(i));
    const int all = transformer.layers + transformer.prediction_layers;
    const bool to_the_last = static_cast<int>(transformer.pattern.size()) == all;
    for (int i = transformer.layers; i < all; ++i) {
        LayerKind further = kind_of(to_the_last ? i : predicting_form(transformer));
        further.predicts_further = true;
        layers.push_back(further);
    }
    layers.push_back({Role::head});
    return layers;
}

LayerWork layer_work(const Model& model, const LayerKind& kind, const Partition& partition)
{
    if (kind.role == LayerKind::Role::native) {
        const LayerList& list = std::get<LayerList>(model.architecture);
        return native_work(list.layers[static_cast<std::size_t>(kind.native_index)], partition);
    }
    const LayerShape shape(std::get<Transformer>(model.architecture), kind, partition);
    switch (kind.role) {
    case LayerKind::Role::embedding:
        return kind.encoder >= 0 ? encoder_ends_work(shape) : embedding_work(shape);
    case LayerKind::Role::head:
        return head_work(shape);
    default:
        return transformer_layer(shape);
    }
}

template <>
std::vector<EnumName<Recompute>> enum_names<Recompute>()
{
    return {
        {Recompute::none, "none"}, {Recompute::selective, "selective"}, {Recompute::full, "full"}};
}

} // namespace trainyard
