#pragma once

// The blocks of each kind of layer and pass, stored once and used many times.

#include "sim/strategy/lower/item_lowering.h"
#include "sim/strategy/lower/job_work.h"
#include "sim/strategy/schedule.h"

#include <deque>
#include <map>
#include <utility>

namespace trainyard {

struct LayerBlock {
    // One, or several between which another pass may take its turn; none without work.
    std::vector<BlockId> pieces;
    std::uint16_t events = 0; // local events to bind

    // Passes that complete gradients: these become ready piece by piece, as shares of the layer's
    // dense and of its expert parameters (each sum to 1) when the local event is recorded.
    std::vector<ItemLowering::GradientWork> gradients;
};

// What a pass's block is like besides its kind.
struct PassStyle {
    PassKind kind = PassKind::forward;
    bool in_turns = false; // with another pass: cut behind each exchange between experts

    auto operator<=>(const PassStyle&) const = default;
};

// What blocks say of the tensors that their ops take and give back.
enum class BlockMemory : std::uint8_t { written, left_out };

class LayerCatalog {
public:
    LayerCatalog(PlanBuilder& plan, const Job& job, const JobWork& work,
                 BlockMemory memory = BlockMemory::written)
        : plan_(plan), job_(job), work_(work), memory_(memory)
    {}

    // The block of a layer's pass; `extra` is taken and given back besides activations.
    const LayerBlock& block(std::size_t kind, PassStyle style, const TensorChanges& extra);
    // What a layer of that kind keeps on the host from forward to backward.
    const std::vector<Tensor>& offloaded(std::size_t kind);

private:
    LayerBlock forward(const KindOfLayer& kind, PassStyle style, const TensorChanges& extra);
    LayerBlock backward(const KindOfLayer& kind, PassStyle style, const TensorChanges& extra);
    LayerBlock backward_weight(const KindOfLayer& kind, const TensorChanges& extra);
    ItemLowering start(const KindOfLayer& kind, PassStyle style, std::string_view what);
    LayerBlock finished(ItemLowering items, PassStyle style, const TensorChanges& memory);

    LayerMemory memory_of(const KindOfLayer& kind) const;
    // What `items` take and give back, as `changes` of the layer's memory says.
    template <class Changes>
    ItemChanges changes_of(const KindOfLayer& kind, const WorkList& items, Changes changes) const
    {
        return memory_ == BlockMemory::left_out ? ItemChanges(items.size())
                                                : changes(memory_of(kind));
    }

    PlanBuilder& plan_;
    const Job& job_;
    const JobWork& work_;
    BlockMemory memory_;
    // By kind of layer and style: one for each `extra`, of which there are a few.
    std::map<std::pair<std::size_t, PassStyle>, std::deque<std::pair<TensorChanges, LayerBlock>>>
        built_;
    std::map<std::size_t, std::vector<Tensor>> offloaded_; // by kind of layer
};

} // namespace trainyard
