#include "gui/timeline/timeline_data.h"

#include <algorithm>

namespace trainyard::gui {

namespace {

SimTime start_of_last_step(const StepResult& result)
{
    return result.step_ends.size() > 1 ? result.step_ends[result.step_ends.size() - 2] : SimTime();
}

} // namespace

std::uint64_t row_key(std::uint8_t run, LaneId lane, StreamId stream)
{
    return std::uint64_t{run} << 40 | std::uint64_t{lane.value} << 8 | stream.value;
}

void SliceColumns::resize(std::size_t count)
{
    start.resize(count);
    end.resize(count);
    kind.resize(count);
    name.resize(count);
    record.resize(count);
}

RecordedRun::RecordedRun(std::shared_ptr<const Outcome> of)
    : outcome(std::move(of)),
      graph(outcome->plan->program, *outcome->binding, outcome->result->records),
      origin(start_of_last_step(*outcome->result))
{}

std::uint32_t TimelineData::row_of(std::uint8_t run, LaneId lane, StreamId stream) const
{
    const auto found = row_index.find(row_key(run, lane, stream));
    return found == row_index.end() ? nothing : found->second;
}

std::uint32_t TimelineData::row_of_slice(std::uint32_t slice) const
{
    const auto behind = std::partition_point(
        rows.begin(), rows.end(), [&](const SliceRow& row) { return row.end() <= slice; });
    return static_cast<std::uint32_t>(behind - rows.begin());
}

std::uint32_t TimelineData::first_ending_after(const SliceRow& row, SimTime time) const
{
    const auto first = slices.end.begin() + row.first;
    return row.first +
           static_cast<std::uint32_t>(std::upper_bound(first, first + row.count, time) - first);
}

std::uint32_t TimelineData::slice_at(const SliceRow& row, SimTime time) const
{
    const std::uint32_t slice = first_ending_after(row, time);
    return slice < row.end() && slices.start[slice] <= time ? slice : nothing;
}

std::uint32_t TimelineData::slice_of(std::uint8_t run, const OpRecord& record) const
{
    const std::uint32_t row = row_of(run, record.lane, record.stream);
    return row == nothing ? nothing : slice_at(rows[row], record.end + shift[run] - SimTime(1));
}

std::string_view title_of(LaneOrder order)
{
    switch (order) {
    case LaneOrder::stage:
        return "by stage";
    case LaneOrder::idle:
        return "by idle time";
    case LaneOrder::rank:
        break;
    }
    return "by rank";
}

} // namespace trainyard::gui
