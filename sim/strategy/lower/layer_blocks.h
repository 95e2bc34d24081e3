#pragma once

// The forward and backward blocks of each kind of layer, stored once and used many times.

#include "sim/strategy/lower/item_lowering.h"
#include "sim/strategy/lower/job_work.h"
#include "sim/strategy/schedule.h"

#include <map>
#include <tuple>

namespace trainyard {

struct LayerBlock {
    BlockId block;
    std::uint16_t events = 0; // local events to bind

    // Backward: gradients become ready piece by piece, as shares of the layer's dense and of its
    // expert parameters (each sum to 1) when the local event is recorded.
    std::vector<ItemLowering::GradientWork> gradients;
};

class LayerCatalog {
public:
    LayerCatalog(PlanBuilder& plan, const Job& job, const JobWork& work)
        : plan_(plan), job_(job), work_(work)
    {}

    // The block of a layer's pass; `extra` is taken and given back besides activations.
    const LayerBlock& block(std::size_t kind, PassKind pass, const TensorChanges& extra);

private:
    LayerBlock forward(const KindOfLayer& kind, TensorChanges memory);
    LayerBlock backward(const KindOfLayer& kind, TensorChanges memory);

    PlanBuilder& plan_;
    const Job& job_;
    const JobWork& work_;
    std::map<std::tuple<std::size_t, PassKind, TensorChanges>, LayerBlock> built_;
};

} // namespace trainyard
