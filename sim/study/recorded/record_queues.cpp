#include "sim/study/recorded/record_queues.h"

#include <algorithm>
#include <tuple>

namespace trainyard {

namespace {

// How many lanes, streams and steps the records name, one behind the highest.
struct Extent {
    std::size_t lanes = 0;
    std::size_t streams = 0;
    std::size_t steps = 0;

    std::size_t key(const OpRecord& record) const
    {
        return (record.lane.value * streams + record.stream.value) * steps + record.step;
    }
};

Extent extent_of(const std::vector<OpRecord>& records)
{
    Extent extent;
    for (const OpRecord& record : records) {
        extent.lanes = std::max(extent.lanes, std::size_t{record.lane.value} + 1);
        extent.streams = std::max(extent.streams, std::size_t{record.stream.value} + 1);
        extent.steps = std::max(extent.steps, std::size_t{record.step} + 1);
    }
    return extent;
}

} // namespace

RecordQueues queues_of(const std::vector<OpRecord>& records)
{
    const Extent extent = extent_of(records);
    std::vector<std::uint32_t> next(extent.lanes * extent.streams * extent.steps + 1);
    for (const OpRecord& record : records)
        ++next[extent.key(record) + 1];
    for (std::size_t i = 1; i < next.size(); ++i)
        next[i] += next[i - 1];

    RecordQueues all;
    all.records.resize(records.size());
    for (std::size_t i = 0; i < records.size(); ++i)
        all.records[next[extent.key(records[i])]++] = static_cast<std::uint32_t>(i);

    const auto earlier = [&](std::uint32_t a, std::uint32_t b) {
        return std::tie(records[a].start, records[a].end) <
               std::tie(records[b].start, records[b].end);
    };
    std::uint32_t first = 0;
    for (const std::uint32_t end : next) { // now the end of each queue, the last one's twice
        if (end == first)
            continue;
        const OpRecord& one = records[all.records[first]];
        all.queues.push_back({one.lane, one.stream, one.step, first, end - first});
        const auto begin = all.records.begin() + first;
        if (!std::is_sorted(begin, all.records.begin() + end, earlier))
            std::stable_sort(begin, all.records.begin() + end, earlier);
        first = end;
    }
    return all;
}

} // namespace trainyard
