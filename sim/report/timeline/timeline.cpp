#include "sim/report/timeline/timeline.h"

#include "sim/report/text/describe.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace trainyard {

namespace {

// Parts of a step that a picture of this width can tell apart.
constexpr std::int64_t first_resolution = 2000;

SliceKind kind_of_phase(Phase phase)
{
    switch (phase) {
    case Phase::forward:
        return SliceKind::forward;
    case Phase::backward:
        return SliceKind::backward;
    case Phase::recompute:
        return SliceKind::recompute;
    case Phase::optimizer:
        return SliceKind::optimizer;
    case Phase::data:
        return SliceKind::data;
    default:
        return SliceKind::other;
    }
}

SliceKind kind_of_group(GroupKind group)
{
    switch (group) {
    case GroupKind::tp:
        return SliceKind::tp;
    case GroupKind::cp:
        return SliceKind::cp;
    case GroupKind::ep:
    case GroupKind::etp:
        return SliceKind::ep;
    case GroupKind::pp:
        return SliceKind::pp;
    case GroupKind::dp:
    case GroupKind::edp:
    case GroupKind::embedding:
    case GroupKind::world:
        break;
    }
    return SliceKind::dp;
}

bool is_transfer(OpKind kind)
{
    return kind == OpKind::collective || kind == OpKind::exchange;
}

SliceKind kind_of(const OpRecord& record, const Label& label)
{
    if (is_transfer(record.kind))
        return kind_of_group(label.group);
    if (record.kind == OpKind::host)
        return label.phase == Phase::data ? SliceKind::data : SliceKind::host;
    return kind_of_phase(label.phase);
}

void add_slices(std::vector<Slice>& slices, const OpRecord& record, const Label& label)
{
    Slice slice{record.start,
                record.end,
                record.end - record.start,
                kind_of(record, label),
                record.micro_batch,
                label.name,
                1};
    if (is_transfer(record.kind) && record.transfer_start > record.start) {
        Slice wait = slice;
        wait.kind = SliceKind::waiting;
        wait.end = std::min(record.transfer_start, record.end);
        wait.busy = wait.end - wait.start;
        slices.push_back(wait);
        slice.start = wait.end;
        slice.busy = slice.end - slice.start;
    }
    if (slice.end > slice.start)
        slices.push_back(std::move(slice));
}

bool shown(StreamKind kind)
{
    return kind != StreamKind::host;
}

using Rows = std::map<std::pair<LaneId, StreamId>, std::vector<Slice>>;

Rows rows_of(const Outcome& outcome, std::uint16_t step)
{
    Rows rows;
    const Program& program = outcome.plan->program;
    for (const OpRecord& record : outcome.result->records)
        if (record.step == step && shown(program.streams[record.stream.value].kind))
            add_slices(rows[{record.lane, record.stream}], record,
                       program.labels[record.label.value]);
    for (auto& [key, slices] : rows)
        std::stable_sort(slices.begin(), slices.end(),
                         [](const Slice& a, const Slice& b) { return a.start < b.start; });
    return rows;
}

// By stage; evenly spaced ones when there are too many.
std::vector<LaneId> lanes_of(const Rows& rows, const Binding& binding, std::size_t most)
{
    std::vector<LaneId> lanes;
    for (const auto& [key, slices] : rows)
        if (lanes.empty() || lanes.back() != key.first)
            lanes.push_back(key.first);
    std::stable_sort(lanes.begin(), lanes.end(), [&](LaneId a, LaneId b) {
        return binding.lanes[a.value].role < binding.lanes[b.value].role;
    });
    if (lanes.size() <= most)
        return lanes;
    std::vector<LaneId> chosen;
    for (std::size_t i = 0; i < most; ++i)
        chosen.push_back(lanes[i * lanes.size() / most]);
    return chosen;
}

void join(Slice& slice, const Slice& next)
{
    slice.end = std::max(slice.end, next.end);
    slice.busy += next.busy;
    slice.ops += next.ops;
    if (slice.micro_batch != next.micro_batch)
        slice.micro_batch = BlockUse::no_index;
}

Timeline build(const Outcome& outcome, const Rows& rows, const TimelineOptions& options,
               SimTime resolution)
{
    Timeline timeline;
    const Program& program = outcome.plan->program;
    for (const LaneId id : lanes_of(rows, *outcome.binding, options.max_lanes)) {
        const Lane& lane = outcome.binding->lanes[id.value];
        TimelineLane shown_lane{
            id,
            lane.rank,
            fmt::format("{} (rank {})", stage_name(program, lane.role), lane.rank.value),
            {}};
        for (auto row = rows.lower_bound({id, StreamId{0}});
             row != rows.end() && row->first.first == id; ++row)
        {
            const Stream& stream = program.streams[row->first.second.value];
            shown_lane.rows.push_back({stream.name, stream.kind, merged(row->second, resolution)});
        }
        timeline.lanes.push_back(std::move(shown_lane));
    }
    return timeline;
}

} // namespace

std::string_view title_of(SliceKind kind)
{
    static constexpr std::array<std::string_view, slice_kind_count> titles{
        "forward", "backward", "recompute", "optimizer", "other", "TP",        "CP",
        "EP",      "DP",       "PP",        "waiting",   "host",  "input data"};
    return titles[static_cast<std::size_t>(kind)];
}

std::size_t Timeline::slice_count() const
{
    std::size_t count = 0;
    for (const TimelineLane& lane : lanes)
        for (const TimelineRow& row : lane.rows)
            count += row.slices.size();
    return count;
}

std::vector<Slice> merged(const std::vector<Slice>& slices, SimTime resolution)
{
    std::vector<Slice> alike;
    for (const Slice& slice : slices) {
        if (!alike.empty() && alike.back().kind == slice.kind &&
            alike.back().micro_batch == slice.micro_batch &&
            slice.start - alike.back().end <= resolution)
            join(alike.back(), slice);
        else
            alike.push_back(slice);
    }
    std::vector<Slice> out;
    SimTime longest; // of the short slices that the last one of `out` is made of; 0: it is long
    for (const Slice& slice : alike) {
        const SimTime length = slice.end - slice.start;
        if (length >= resolution) {
            out.push_back(slice);
            longest = SimTime(0);
            continue;
        }
        const bool joins = longest > SimTime(0) && slice.start - out.back().end <= resolution &&
                           out.back().end - out.back().start < resolution;
        if (!joins) {
            out.push_back(slice);
            longest = length;
            continue;
        }
        join(out.back(), slice);
        if (length > longest) {
            longest = length;
            out.back().kind = slice.kind;
            out.back().title = slice.title;
        }
    }
    return out;
}

Timeline make_timeline(const Outcome& outcome, const TimelineOptions& options)
{
    const std::vector<OpRecord>& records = outcome.result->records;
    if (records.empty())
        return {};
    std::uint16_t step = 0;
    for (const OpRecord& record : records)
        step = std::max(step, record.step);
    const Rows rows = rows_of(outcome, step);
    SimTime start = records.front().end;
    SimTime end;
    for (const auto& [key, slices] : rows)
        for (const Slice& slice : slices) {
            start = std::min(start, slice.start);
            end = std::max(end, slice.end);
        }
    if (end <= start)
        return {};
    SimTime resolution = (end - start) / first_resolution;
    Timeline timeline = build(outcome, rows, options, resolution);
    while (timeline.slice_count() > options.max_slices && resolution < end - start) {
        resolution = std::max(resolution * 2, SimTime(1));
        timeline = build(outcome, rows, options, resolution);
    }
    timeline.start = start;
    timeline.end = end;
    return timeline;
}

} // namespace trainyard
