#include "sim/strategy/lower/gradient_offload.h"

namespace trainyard {

GradientOffload::GradientOffload(const Job& job) : copies_(leaves_beside_backward(job)) {}

void GradientOffload::leave(StageWriter& writer, Bytes part, EventId ready, UseIndex index) const
{
    if (!copies_)
        return;
    // Shards are fetched the other way at the same time where parameters live on the host too.
    const bool both_ways = writer.job().strategy.offload.parameters != OffloadTarget::none;
    const Tensor leaving{"gradients to host", MemoryKind::gradients,
                         static_cast<std::int64_t>(part.value()), TensorScope::use};
    TensorChanges memory;
    if (leaves_at_once(writer.job()))
        memory = {allocates(leaving), frees(leaving)};
    writer.copy({.name = "gradients to host",
                 .stream = to_host_stream,
                 .bytes = part,
                 .both_ways = both_ways,
                 .phase = Phase::gradient_sync,
                 .waits = {ready},
                 .record = writer.offloaded(),
                 .memory = memory,
                 .index = index});
}

} // namespace trainyard
