#pragma once

// Gradients on their way into shards, and parameters out of them.

#include "sim/strategy/lower/stage_writer.h"
#include "sim/strategy/state_shards.h"

namespace trainyard {

// The stream of gradients and parameters; dense and expert traffic share the way out.
inline constexpr const char* data_parallel_stream = "dp";
// HSDP's sums across replicas have a communicator and a stream of their own.
inline constexpr const char* replicate_stream = "dp replicate";

// Writes reductions of whole gradients into shards: a reduce-scatter (or, as said, an all-reduce)
// over the ranks that cut states, then an all-reduce of the shard across its copies.
class ShardReduction {
public:
    explicit ShardReduction(StateShards shards) : shards_(shards) {}

    // `transfer` says all but its group and stream; `record` is recorded when all is summed.
    void write(StageWriter& writer, SingleTransfer transfer);
    // How often it communicates at all.
    bool any() const { return shards_.all() > 1; }

private:
    StateShards shards_;
    EventId scattered_; // made at the first use
};

} // namespace trainyard
