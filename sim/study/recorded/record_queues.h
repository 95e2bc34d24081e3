#pragma once

// Records put in line: those of one stream of a lane in one step, in the stream's order.

#include "sim/engine/engine.h"

#include <span>

namespace trainyard {

struct RecordQueue {
    LaneId lane{};
    StreamId stream{};
    std::uint16_t step = 0;
    std::uint32_t first = 0; // into RecordQueues::records
    std::uint32_t count = 0;

    bool operator==(const RecordQueue&) const = default;
};

struct RecordQueues {
    std::vector<RecordQueue> queues;    // by lane, stream, step; none is empty
    std::vector<std::uint32_t> records; // indices, queue after queue

    std::span<const std::uint32_t> of(const RecordQueue& queue) const
    {
        return std::span(records).subspan(queue.first, queue.count);
    }
};

// Linear in the records, if they come in the order in which an engine gives them. Requires fewer
// than 2^32 of them.
RecordQueues queues_of(const std::vector<OpRecord>& records);

} // namespace trainyard
