#include "sim/api/timeline_columns.h"

#include "sim/report/timeline/timeline.h"

#include <algorithm>
#include <numeric>
#include <tuple>

namespace trainyard {
namespace {

std::int32_t index_or_none(std::uint16_t index)
{
    return index == BlockUse::no_index ? -1 : static_cast<std::int32_t>(index);
}

// The records of the last step, by lane, stream and start.
std::vector<std::size_t> shown_records(const std::vector<OpRecord>& records)
{
    std::uint16_t step = 0;
    for (const OpRecord& record : records)
        step = std::max(step, record.step);
    std::vector<std::size_t> order;
    for (std::size_t i = 0; i < records.size(); ++i)
        if (records[i].step == step)
            order.push_back(i);
    std::ranges::stable_sort(order, {}, [&](std::size_t i) {
        const OpRecord& record = records[i];
        return std::tuple(record.lane, record.stream, record.start, record.end);
    });
    return order;
}

void add_record(TimelineColumns& out, const OpRecord& record, const Outcome& outcome, SimTime begin)
{
    const std::vector<Lane>& lanes = outcome.binding->lanes;
    const Lane& lane = lanes[record.lane.value];
    const auto since = [begin](SimTime time) { return (time - begin).value(); };
    out.rank.push_back(static_cast<std::int32_t>(lane.rank.value));
    out.stage.push_back(static_cast<std::int32_t>(lane.role.value));
    out.stream.push_back(static_cast<std::int32_t>(record.stream.value));
    out.name.push_back(static_cast<std::int32_t>(record.label.value));
    const Label& label = outcome.plan->program.labels[record.label.value];
    out.kind.push_back(static_cast<std::int32_t>(slice_kind_of(record, label)));
    out.micro_batch.push_back(index_or_none(record.micro_batch));
    out.layer.push_back(index_or_none(record.layer));
    out.issued.push_back(since(record.issued));
    out.start.push_back(since(record.start));
    out.transfer_start.push_back(since(record.transfer_start));
    out.end.push_back(since(record.end));
    out.bytes.push_back(record.bytes.value());
    const bool waits =
        record.kind == OpKind::collective && record.last_arriver.value < lanes.size();
    out.last_arriver.push_back(
        waits ? static_cast<std::int32_t>(lanes[record.last_arriver.value].rank.value) : -1);
}

} // namespace

TimelineColumns timeline_columns(const Outcome& recorded)
{
    TimelineColumns out;
    const Program& program = recorded.plan->program;
    for (const Stream& stream : program.streams)
        out.streams.push_back(stream.name);
    for (const Label& label : program.labels)
        out.names.push_back(label.name);
    for (const EnumName<TimeKind>& kind : enum_names<TimeKind>())
        out.kinds.emplace_back(kind.name);
    const StepResult& result = *recorded.result;
    const std::size_t steps = result.step_ends.size();
    const SimTime begin = steps > 1 ? result.step_ends[steps - 2] : SimTime(0);
    out.step = result.step_time.value();
    for (const std::size_t i : shown_records(result.records))
        add_record(out, result.records[i], recorded, begin);
    return out;
}

} // namespace trainyard
