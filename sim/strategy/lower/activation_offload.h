#pragma once

// Activations that wait in the host's memory: their copies beside the passes of a stage.
//
// As Transformer Engine does it: behind an offloaded layer's forward pass what it keeps goes to the
// host, and some layers later compute waits for the copy and the memory is free again. Of a chunk's
// L layers the first N are offloaded; with w = L / N, rounded down, the copy of number k (from 0)
// is waited for behind layer (k + 1) w: copies spread over all layers, and where all are offloaded
// there are two buffers. Backward brings layers back in the mirrored order.

#include "sim/strategy/lower/data_parallel.h"

#include <deque>

namespace trainyard {

class LayerCatalog;

class ActivationOffload {
public:
    ActivationOffload(StageWriter& writer, LayerCatalog& catalog, const StageContent& content);

    // Around a visit's block. In turns, passes of both directions run beside each other.
    void before(std::size_t visit, bool in_turns);
    void after(std::size_t visit, bool in_turns);

private:
    struct Copy {
        std::size_t visit = 0;
        EventId done;
    };
    // Layers between an offloaded layer and the one that its copy may last to; 0: not offloaded.
    std::size_t layers_meanwhile(std::size_t visit) const
    {
        return meanwhile_[content_.visits[visit].layer];
    }
    EventId take_event();
    void wait_for(const Copy& copy, const char* name, Phase phase, TensorChanges memory);
    std::span<const Tensor> tensors(std::size_t visit) const;
    bool sends(std::size_t visit) const;
    bool fetches(std::size_t visit) const;
    UseIndex index(std::size_t visit) const;
    void free_oldest();
    void fetch(std::size_t visit, bool in_turns);
    EventId copied(std::size_t visit, bool in_turns, const char* stream);

    StageWriter& writer_;
    LayerCatalog& catalog_;
    const StageContent& content_;
    std::vector<std::size_t> meanwhile_; // by layer of the stage
    std::size_t most_ = 0;               // of those; 0: nothing is offloaded
    std::deque<Copy> leaving_;           // their memory is not free yet
    std::deque<Copy> coming_;            // their layers have not begun
    std::vector<EventId> idle_events_;
};

} // namespace trainyard
