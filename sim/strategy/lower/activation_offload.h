#pragma once

// Activations that wait for backward outside the device's memory: copied out behind a layer's
// forward pass, fetched one layer ahead of its backward pass.

#include "sim/strategy/lower/data_parallel.h"
#include "sim/strategy/lower/layer_memory.h"

#include <optional>

namespace trainyard {

class ActivationOffload {
public:
    ActivationOffload(const Job& job, const StageContent& stage);

    // Before a visit's block: what it must wait for.
    EventId before(StageWriter& writer, std::size_t visit);
    void after(StageWriter& writer, std::size_t visit);

private:
    void plan();
    void fetch(StageWriter& writer, std::size_t number);
    MemoryCopy copy_of(StageWriter& writer, std::size_t visit) const;
    Bytes kept(std::size_t visit) const;

    const Job& job_;
    const StageContent& stage_;
    std::vector<bool> leaves_;                       // by forward visit
    std::vector<std::size_t> fetches_;               // backward visits that need one, in order
    std::vector<std::optional<std::size_t>> number_; // by backward visit: its fetch
    std::vector<EventId> out_;                       // of the latest copies out, by parity
    std::vector<EventId> fetched_;                   // a ring
    std::size_t started_ = 0;
};

} // namespace trainyard
