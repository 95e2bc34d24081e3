#pragma once

// Gradients on their way to the host whose CPU updates the parameters (ZeRO-Offload, Ren 2021):
// each reduced shard is copied as soon as its sum over all micro-batches is there, on the stream
// towards the host.

#include "sim/strategy/lower/stage_writer.h"
#include "sim/strategy/offload.h"

namespace trainyard {

class GradientOffload {
public:
    explicit GradientOffload(const Job& job);

    // A rank's part of some gradients, summed over micro-batches and ranks once `ready` is
    // recorded.
    void leave(StageWriter& writer, Bytes part, EventId ready, UseIndex index) const;

private:
    bool copies_;
};

} // namespace trainyard
