#pragma once

// Where within a layer's passes its tensors come and go.

#include "sim/program/memory.h"
#include "sim/strategy/stages.h"

#include <cstddef>
#include <optional>

namespace trainyard {

// What items of a list take and give back: before[i] before item i is issued, after[i] behind it.
struct ItemChanges {
    explicit ItemChanges(std::size_t items) : before(items), after(items) {}

    std::vector<TensorChanges> before;
    std::vector<TensorChanges> after;
};

// The lives of a layer's tensors (LayerTensor) as its recomputation leaves them: what forward does
// not keep, backward brings back tensor by tensor. What an offloaded layer keeps leaves behind
// forward and is back when backward begins: ActivationOffload frees and allocates it.
class LayerMemory {
public:
    // `unfilled`: bytes of the tensor that stands in for the logits' weight gradient where their
    // product adds it to the sum itself (Megatron-Core's fused accumulation); 0: none.
    LayerMemory(const StageLayer& layer, const LayerWork& work, std::int64_t unfilled);

    ItemChanges forward() const;
    // Of the list that runs again before backward.
    ItemChanges recompute(const WorkList& items) const;
    // Of the backward list or a part of it. What one part makes for another lives until then.
    ItemChanges backward(const WorkList& items) const;
    // What forward keeps for backward on the host.
    std::vector<Tensor> offloaded() const;
    // What forward leaves for backward on the device.
    std::int64_t kept_bytes() const;

private:
    bool kept(const LayerTensor& tensor) const;
    bool regained(const LayerTensor& tensor) const;
    Tensor tensor(const LayerTensor& tensor) const;
    void put_off(const LayerTensor& tensor, const WorkList& items, std::optional<std::size_t> made,
                 ItemChanges& changes) const;

    const StageLayer& layer_;
    const LayerWork& work_;
    std::vector<LayerTensor> tensors_;
};

} // namespace trainyard
