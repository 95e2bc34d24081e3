#include "sim/strategy/lower/shard_exchange.h"

namespace trainyard {

void ShardReduction::write(StageWriter& writer, SingleTransfer transfer)
{
    transfer.group = shards_.group;
    transfer.stream = data_parallel_stream;
    if (shards_.replicas == 1)
        return writer.transfer(transfer);
    SingleTransfer across = transfer;
    across.kind = CollectiveKind::all_reduce;
    across.group = shards_.copies;
    across.stream = replicate_stream;
    across.bytes = scaled(transfer.bytes, 1.0 / shards_.ranks);
    if (shards_.ranks > 1) {
        if (!scattered_.valid())
            scattered_ = writer.event();
        transfer.record = scattered_;
        across.waits = {scattered_};
        across.memory = {};
        writer.transfer(transfer);
    }
    writer.transfer(across);
}

} // namespace trainyard
