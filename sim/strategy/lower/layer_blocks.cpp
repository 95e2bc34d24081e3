#include "sim/strategy/lower/layer_blocks.h"

#include "sim/workload/split_backward.h"

#include <algorithm>
#include <functional>

namespace trainyard {

namespace {

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

template <class T>
std::uint16_t append(std::vector<T>& to, const std::vector<T>& from, std::uint16_t first,
                     std::uint16_t count)
{
    const auto at = static_cast<std::uint16_t>(to.size());
    to.insert(to.end(), from.begin() + first, from.begin() + first + count);
    return at;
}

// Cuts after each op that `ends_piece` says, in order; together the pieces are the block. All keep
// its local events. None for a block without ops.
std::vector<Block> cut_into_pieces(const Block& block,
                                   const std::function<bool(const Op&)>& ends_piece)
{
    std::vector<Block> pieces;
    bool open = false;
    for (const Op& op : block.ops) {
        if (!open)
            pieces.push_back({.name = block.name, .local_events = block.local_events});
        Block& piece = pieces.back();
        Op copy = op;
        copy.wait_first = append(piece.waits, block.waits, op.wait_first, op.wait_count);
        copy.part_first = append(piece.parts, block.parts, op.part_first, op.part_count);
        piece.ops.push_back(copy);
        open = !ends_piece(op);
    }
    return pieces;
}

} // namespace

const LayerBlock& LayerCatalog::block(std::size_t kind, PassStyle style, const TensorChanges& extra)
{
    auto& alike = built_[{kind, style}];
    const auto found =
        std::ranges::find(alike, extra, &std::pair<TensorChanges, LayerBlock>::first);
    if (found != alike.end())
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
    return alike.emplace_back(extra, built()).second;
}

const std::vector<Tensor>& LayerCatalog::offloaded(std::size_t kind)
{
    const auto [entry, added] = offloaded_.try_emplace(kind);
    if (added && work_.kinds[kind].layer.offloaded)
        entry->second = memory_of(work_.kinds[kind]).offloaded();
    return entry->second;
}

LayerMemory LayerCatalog::memory_of(const KindOfLayer& kind) const
{
    std::int64_t unfilled = 0;
    const auto* transformer = std::get_if<Transformer>(&job_.model.architecture);
    if (transformer != nullptr && job_.software.spare_weight_gradients &&
        std::ranges::any_of(kind.work.tensors, &LayerTensor::logits))
    {
        const Partition partition = partition_of(job_);
        if (!partition.lora)
            unfilled =
                storage_bytes(job_.training.precision) * transformer->hidden *
                (std::max(partition.padded_vocabulary, transformer->vocabulary) / partition.tp);
    }
    return {kind.layer, kind.work, unfilled};
}

LayerBlock LayerCatalog::forward(const KindOfLayer& kind, PassStyle style,
                                 const TensorChanges& extra)
{
    ItemLowering items = start(kind, style, "forward ");
    lower(items, kind, kind.work.forward, Phase::forward,
          [](const LayerMemory& memory) { return memory.forward(); });
    return finished(std::move(items), style, extra);
}

LayerBlock LayerCatalog::backward(const KindOfLayer& kind, PassStyle style,
                                  const TensorChanges& extra)
{
    const auto again = [&](ItemLowering& items, const WorkList& list) {
        lower(items, kind, list, Phase::recompute,
              [&](const LayerMemory& memory) { return memory.recompute(list); });
    };
    ItemLowering items = start(kind, style, "backward ");
    if (kind.layer.recompute == Recompute::full)
        again(items, kind.work.forward);
    if (kind.layer.recompute == Recompute::selective)
        again(items, kind.work.selective_recompute);
    const WorkList part =
        style.kind == PassKind::backward ? WorkList() : input_part(kind.work.backward);
    const WorkList& list = style.kind == PassKind::backward ? kind.work.backward : part;
    lower(items, kind, list, Phase::backward,
          [&](const LayerMemory& memory) { return memory.backward(list); });
    return finished(std::move(items), style, extra);
}

LayerBlock LayerCatalog::backward_weight(const KindOfLayer& kind, const TensorChanges& extra)
{
    if (!kind.held.splits)
        return {{}, 0, shares({})};
    const WorkList list = weight_part(kind.work.backward);
    ItemLowering items = start(kind, {PassKind::backward_weight}, "weights of ");
    lower(items, kind, list, Phase::backward,
          [&](const LayerMemory& memory) { return memory.backward(list); });
    return finished(std::move(items), {PassKind::backward_weight}, extra);
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
