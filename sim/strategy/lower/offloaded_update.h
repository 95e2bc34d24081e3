#pragma once

// The optimizer where its states are not in the device's memory, and the way of gradients there.

#include "sim/strategy/lower/data_parallel.h"
#include "sim/strategy/offload.h"

namespace trainyard {

// Gradients on their way to the host whose CPU updates the parameters (ZeRO-Offload, Ren 2021):
// each reduced shard is copied as soon as its sum over all micro-batches is there, on the stream
// towards the host.
class GradientOffload {
public:
    explicit GradientOffload(const Job& job);

    // A rank's part of some gradients, summed over micro-batches and ranks once `ready` is
    // recorded.
    void leave(StageWriter& writer, Bytes part, EventId ready, UseIndex index) const;

private:
    bool copies_;
};

// Instead of the update on the device, layer by layer. The host's CPU updates its copies and sends
// the parameters back while it goes on with the next layer (Ren 2021, section 4.2); states in
// another GPU's memory are fetched, updated and sent back, two layers at a time on the device. Ends
// with all parameters in place and the host waiting.
void write_host_update(StageWriter& writer, const StageContent& stage);
void write_peer_update(StageWriter& writer, const StageContent& stage);

// Shards of FSDP that live on the host go back there after an update on the device.
void write_parameters_home(StageWriter& writer, const StageContent& stage);

} // namespace trainyard
