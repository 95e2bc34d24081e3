#pragma once

// Activations that wait in the host's memory: their copies beside the passes of a stage.
//
// As the double buffer of Transformer Engine does it: behind an offloaded layer's forward pass what
// it keeps goes to the host while the next layer runs; the one after that waits for the copy, and
// the memory is free again. Backward brings a layer back while the one before it runs.

#include "sim/strategy/lower/data_parallel.h"

#include <array>
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
    // More than there are copies of one direction on their way.
    using Events = std::array<EventId, 8>;

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
    bool any_ = false;
    std::deque<Copy> leaving_; // their memory is not free yet
    std::deque<Copy> coming_;  // their layers have not begun
    Events events_;
    std::size_t copies_ = 0;
};

} // namespace trainyard
