#include "sim/strategy/lower/layer_blocks.h"

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

Tensor inner_tensor(const HeldLayer& held, Bytes bytes)
{
    return {.name = "live inside",
            .kind = held.is_head() ? MemoryKind::logits : MemoryKind::workspace,
            .bytes = static_cast<std::int64_t>(bytes.value()),
            .scope = TensorScope::use,
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

const LayerBlock& LayerCatalog::block(std::size_t kind, PassKind pass, const TensorChanges& extra)
{
    const auto key = std::tuple(kind, pass, extra);
    const auto found = built_.find(key);
    if (found != built_.end())
        return found->second;
    const KindOfLayer& layer = work_.kinds[kind];
    return built_
        .emplace(key, pass == PassKind::forward ? forward(layer, extra) : backward(layer, extra))
        .first->second;
}

LayerBlock LayerCatalog::forward(const KindOfLayer& kind, TensorChanges memory)
{
    const Tensor inner = inner_tensor(kind.held, kind.held.transient);
    add(memory, allocates(kept_tensor(kind.held)));
    add(memory, allocates(inner));
    add(memory, frees(inner));
    ItemLowering items(plan_, job_, "forward " + std::string(role_name(kind.layer.kind.role)));
    items.lower(kind.work.forward, Phase::forward);
    ItemLowering::Result result = std::move(items).finish(memory);
    const std::uint16_t events = result.block.local_events;
    return {plan_.block(std::move(result.block)), events, {}};
}

// Recompute brings back what forward did not keep.
LayerBlock LayerCatalog::backward(const KindOfLayer& kind, TensorChanges memory)
{
    const Tensor inner = inner_tensor(kind.held, kind.held.regained + kind.held.transient);
    add(memory, allocates(inner));
    add(memory, frees(inner));
    add(memory, frees(kept_tensor(kind.held)));
    ItemLowering items(plan_, job_, "backward " + std::string(role_name(kind.layer.kind.role)));
    if (kind.layer.recompute == Recompute::full)
        items.lower(kind.work.forward, Phase::recompute);
    if (kind.layer.recompute == Recompute::selective)
        items.lower(kind.work.selective_recompute, Phase::recompute);
    items.lower(kind.work.backward, Phase::backward);
    ItemLowering::Result result = std::move(items).finish(memory);
    const std::uint16_t events = result.block.local_events;
    return {plan_.block(std::move(result.block)), events, shares(std::move(result.gradients))};
}

} // namespace trainyard
