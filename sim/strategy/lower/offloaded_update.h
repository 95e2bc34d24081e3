#pragma once

// The optimizer where its states are not in the device's memory.

#include "sim/strategy/lower/data_parallel.h"

namespace trainyard {

// Instead of the update on the device, layer by layer. The host's CPU updates its copies and sends
// the parameters back while it goes on with the next layer (Ren 2021, section 4.2); states in
// another GPU's memory are fetched, updated and sent back, two layers at a time on the device. Ends
// with all parameters in place and the host waiting.
void write_host_update(StageWriter& writer, const StageContent& stage);
void write_peer_update(StageWriter& writer, const StageContent& stage);

// Shards of FSDP that live on the host go back there after an update on the device.
void write_parameters_home(StageWriter& writer, const StageContent& stage);

} // namespace trainyard
