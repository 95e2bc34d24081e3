#include "sim/strategy/lower/layer_blocks.h"

#include "sim/strategy/lower/block_pieces.h"
#include "sim/workload/split_backward.h"

namespace trainyard {

namespace {

void add(TensorChanges& changes, const TensorChange& change)
{
    if (change.tensor.bytes > 0)
        changes.push_back(change);
}

Tensor kept_tensor(const HeldLayer& held)
{
    return {.name = "kept for backward",
            .kind = held.is_head() ? MemoryKind::logits : MemoryKind::activations,
            .bytes = static_cast<std::int64_t>(held.kept.value()),
            .scope = TensorScope::layer_of_micro_batch,
            .length_power = 1};
}

// The pieces of a block that takes turns are uses of their own.
Tensor inner_tensor(const HeldLayer& held, Bytes bytes, PassStyle style)
{
    return {.name = "live inside",
            .kind = held.is_head() ? MemoryKind::logits : MemoryKind::workspace,
            .bytes = static_cast<std::int64_t>(bytes.value()),
            .scope = style.in_turns ? TensorScope::layer_of_micro_batch : TensorScope::use,
            .length_power = 1};
}

// What backward brings back, where gradients of weights are put off and wait for it.
Tensor regained_tensor(const HeldLayer& held)
{
    return {.name = "recomputed for weights",
            .kind = held.is_head() ? MemoryKind::logits : MemoryKind::activations,
            .bytes = static_cast<std::int64_t>(held.regained.value()),
            .scope = TensorScope::layer_of_micro_batch,
            .length_power = 1};
}

std::string_view role_name(LayerKind::Role role)
{
    switch (role) {
    case LayerKind::Role::embedding:
        return "embedding";
    case LayerKind::Role::dense:
        return "layer";
    case LayerKind::Role::moe:
        return "moe layer";
    case LayerKind::Role::head:
        return "head";
    case LayerKind::Role::native:
        return "native layer";
    }
    return "";
}

// Operations to shares of the whole; a layer without products is ready at its end.
std::vector<ItemLowering::GradientWork> shares(std::vector<ItemLowering::GradientWork> work)
{
    double dense = 0;
    double expert = 0;
    for (const auto& piece : work) {
        dense += piece.dense;
        expert += piece.expert;
    }
    if (work.empty() || dense == 0 || expert == 0)
        work.push_back({.ready = layer_event::computed});
    for (auto& piece : work) {
        piece.dense = dense > 0 ? piece.dense / dense : 0.0;
        piece.expert = expert > 0 ? piece.expert / expert : 0.0;
    }
    if (dense == 0)
        work.back().dense = 1;
    if (expert == 0)
        work.back().expert = 1;
    return work;
}

} // namespace

const LayerBlock& LayerCatalog::block(std::size_t kind, PassStyle style, const TensorChanges& extra)
{
    const auto key = std::tuple(kind, style, extra);
    const auto found = built_.find(key);
    if (found != built_.end())
        return found->second;
    const KindOfLayer& layer = work_.kinds[kind];
    const auto built = [&] {
        switch (style.kind) {
        case PassKind::forward:
            return forward(layer, style, extra);
        case PassKind::backward_weight:
            return backward_weight(layer, extra);
        default:
            return backward(layer, style, extra);
        }
    };
    return built_.emplace(key, built()).first->second;
}

LayerBlock LayerCatalog::forward(const KindOfLayer& kind, PassStyle style, TensorChanges memory)
{
    const Tensor inner = inner_tensor(kind.held, kind.held.transient, style);
    add(memory, allocates(kept_tensor(kind.held)));
    add(memory, allocates(inner));
    add(memory, frees(inner));
    ItemLowering items = start(kind, style, "forward ");
    items.lower(kind.work.forward, Phase::forward);
    return finished(std::move(items), style, memory);
}

// Recompute brings back what forward did not keep. All of it stays until the gradients of weights
// are made.
LayerBlock LayerCatalog::backward(const KindOfLayer& kind, PassStyle style, TensorChanges memory)
{
    const bool stays = style.kind == PassKind::backward_input && kind.held.splits;
    const Bytes regained = stays ? Bytes(0) : kind.held.regained;
    const Tensor inner = inner_tensor(kind.held, regained + kind.held.transient, style);
    add(memory, allocates(inner));
    add(memory, frees(inner));
    if (stays)
        add(memory, allocates(regained_tensor(kind.held)));
    else
        add(memory, frees(kept_tensor(kind.held)));
    ItemLowering items = start(kind, style, "backward ");
    if (kind.layer.recompute == Recompute::full)
        items.lower(kind.work.forward, Phase::recompute);
    if (kind.layer.recompute == Recompute::selective)
        items.lower(kind.work.selective_recompute, Phase::recompute);
    items.lower(style.kind == PassKind::backward ? kind.work.backward
                                                 : input_part(kind.work.backward),
                Phase::backward);
    return finished(std::move(items), style, memory);
}

LayerBlock LayerCatalog::backward_weight(const KindOfLayer& kind, TensorChanges memory)
{
    if (!kind.held.splits)
        return {{}, 0, shares({})};
    add(memory, frees(regained_tensor(kind.held)));
    add(memory, frees(kept_tensor(kind.held)));
    ItemLowering items = start(kind, {PassKind::backward_weight}, "weights of ");
    items.lower(weight_part(kind.work.backward), Phase::backward);
    return finished(std::move(items), {PassKind::backward_weight}, memory);
}

ItemLowering LayerCatalog::start(const KindOfLayer& kind, PassStyle style, std::string_view what)
{
    return ItemLowering(plan_, job_,
                        std::string(what) + std::string(role_name(kind.layer.kind.role)),
                        style.in_turns ? ExpertExchange::whole : ExpertExchange::fused);
}

LayerBlock LayerCatalog::finished(ItemLowering items, PassStyle style, const TensorChanges& memory)
{
    ItemLowering::Result result = std::move(items).finish(memory);
    LayerBlock out;
    out.events = result.block.local_events;
    if (completes_gradients(style.kind))
        out.gradients = shares(std::move(result.gradients));
    const auto ends_piece = [&](const Op& op) {
        return op.kind == OpKind::collective && plan_.kind_of(op.group) == GroupKind::ep;
    };
    if (!style.in_turns)
        out.pieces.push_back(plan_.block(std::move(result.block)));
    else
        for (Block& piece : cut_into_pieces(result.block, ends_piece))
            out.pieces.push_back(plan_.block(std::move(piece)));
    return out;
}

} // namespace trainyard
