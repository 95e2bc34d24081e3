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

// How much of its work a layer's block says.
enum class BlockDetail : std::uint8_t {
    whole,  // with the tensors that its ops take and give back
    ops,    // without them
    outline // of forward and recomputation the first op alone: for who looks at what lies around
            // the passes, and when gradients are ready
};

class LayerCatalog {
public:
    LayerCatalog(PlanBuilder& plan, const Job& job, const JobWork& work,
                 BlockDetail detail = BlockDetail::whole)
        : plan_(plan), job_(job), work_(work), detail_(detail)
    {}

    bool tells_memory() const { return detail_ == BlockDetail::whole; }

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
    // What `list` takes and gives back, `changes` of the layer's memory says.
    template <class Changes>
    void lower(ItemLowering& items, const KindOfLayer& kind, const WorkList& list, Phase phase,
               Changes changes) const
    {
        if (detail_ == BlockDetail::outline && phase != Phase::backward)
            items.lower(WorkList(list.begin(), list.begin() + (list.empty() ? 0 : 1)), phase,
                        ItemChanges(list.empty() ? 0 : 1));
        else
            items.lower(list, phase,
                        tells_memory() ? changes(memory_of(kind)) : ItemChanges(list.size()));
    }

    PlanBuilder& plan_;
    const Job& job_;
    const JobWork& work_;
    BlockDetail detail_;
    // By kind of layer and style: one for each `extra`, of which there are a few.
    std::map<std::pair<std::size_t, PassStyle>, std::deque<std::pair<TensorChanges, LayerBlock>>>
        built_;
    std::map<std::size_t, std::vector<Tensor>> offloaded_; // by kind of layer
};

} // namespace trainyard
