#include "sim/report/timeline/timeline.h"

#include "sim/engine/totals.h"
#include "sim/report/text/describe.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <set>

namespace trainyard {

namespace {

// Parts of a step that a picture of this width can tell apart.
constexpr std::int64_t first_resolution = 2000;

bool is_transfer(OpKind kind)
{
    return kind == OpKind::collective || kind == OpKind::exchange;
}

// The part of `slice` inside the window, if any.
void add_inside(std::vector<Slice>& slices, Slice slice, SimTime from, SimTime to)
{
    slice.start = std::max(slice.start, from);
    slice.end = std::min(slice.end, to);
    slice.busy = slice.end - slice.start;
    if (slice.busy > SimTime(0))
        slices.push_back(std::move(slice));
}

// Time of a step, as records have it.
struct StepSpan {
    SimTime start;
    SimTime end;
};

// `joins_stages`: what the record's group does, of a collective.
void add_slices(std::vector<Slice>& slices, const OpRecord& record, const Label& label,
                bool joins_stages, const StepSpan& shown)
{
    Slice slice{record.start,       record.end, {}, slice_kind_of(record, label),
                record.micro_batch, label.name, 1};
    if (is_transfer(record.kind)) {
        Slice wait = slice;
        wait.kind = engine::waiting_kind(record.kind, joins_stages);
        wait.end = std::min(record.transfer_start, record.end);
        if (record.kind == OpKind::collective)
            add_inside(slices, wait, shown.start, shown.end);
        slice.start = std::max(slice.start, wait.end);
    }
    add_inside(slices, std::move(slice), shown.start, shown.end);
}

// Rows that share a picture's line: by lane and stream, all exchanges of a lane on the first of
// their streams.
using Rows = std::map<std::pair<LaneId, StreamId>, std::vector<Slice>>;

std::set<StreamId> exchange_streams(const std::vector<OpRecord>& records)
{
    std::set<StreamId> streams;
    for (const OpRecord& record : records)
        if (record.kind == OpKind::exchange)
            streams.insert(record.stream);
    return streams;
}

// Later slices give way to earlier ones.
void remove_overlap(std::vector<Slice>& slices)
{
    SimTime free;
    for (Slice& slice : slices) {
        slice.start = std::min(std::max(slice.start, free), slice.end);
        slice.busy = slice.end - slice.start;
        free = slice.end;
    }
    std::erase_if(slices, [](const Slice& slice) { return slice.busy == SimTime(0); });
}

// Of what the host does, a picture shows the loading of input: the devices wait for it.
bool is_shown(const OpRecord& record, const Program& program)
{
    return record.stream != host_stream || program.labels[record.label.value].phase == Phase::data;
}

Rows rows_of(const Outcome& outcome, std::uint16_t step, const StepSpan& shown)
{
    Rows rows;
    const Program& program = outcome.plan->program;
    const std::set<StreamId> exchanges = exchange_streams(outcome.result->records);
    std::vector<bool> joining; // by group
    for (const Group& group : outcome.binding->groups)
        joining.push_back(engine::joins_stages(group, outcome.binding->lanes));
    for (const OpRecord& record : outcome.result->records) {
        if (record.step != step || !is_shown(record, program))
            continue;
        const bool exchange = exchanges.contains(record.stream);
        add_slices(rows[{record.lane, exchange ? *exchanges.begin() : record.stream}], record,
                   program.labels[record.label.value],
                   record.kind == OpKind::collective && joining[record.group.value], shown);
    }
    for (auto& [key, slices] : rows) {
        std::stable_sort(slices.begin(), slices.end(), [](const Slice& a, const Slice& b) {
            return std::pair(a.start, a.end) < std::pair(b.start, b.end);
        });
        remove_overlap(slices);
    }
    return rows;
}

std::string row_name(const Outcome& outcome, StreamId stream)
{
    const std::set<StreamId> exchanges = exchange_streams(outcome.result->records);
    if (exchanges.size() > 1 && stream == *exchanges.begin())
        return "pp";
    return outcome.plan->program.streams[stream.value].name;
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

StepSpan span_of(const std::vector<OpRecord>& records, const Program& program, std::uint16_t step)
{
    std::optional<StepSpan> span;
    for (const OpRecord& record : records) {
        if (record.step != step || !is_shown(record, program))
            continue;
        if (!span)
            span = StepSpan{record.start, record.end};
        span->start = std::min(span->start, record.start);
        span->end = std::max(span->end, record.end);
    }
    return span.value_or(StepSpan{});
}

Timeline build(const Outcome& outcome, const Rows& rows, const TimelineOptions& options,
               SimTime resolution)
{
    Timeline timeline;
    const Program& program = outcome.plan->program;
    for (const LaneId id : lanes_of(rows, *outcome.binding, options.max_lanes)) {
        const Lane& lane = outcome.binding->lanes[id.value];
        TimelineLane shown_lane{id, lane.rank, lane_name(program, lane.role, lane.rank), {}};
        for (auto row = rows.lower_bound({id, StreamId{0}});
             row != rows.end() && row->first.first == id; ++row)
        {
            const Stream& stream = program.streams[row->first.second.value];
            if (!row->second.empty() || stream.kind == StreamKind::compute)
                shown_lane.rows.push_back({row_name(outcome, row->first.second), stream.kind,
                                           merged(row->second, resolution)});
        }
        if (!shown_lane.rows.empty() && shown_lane.rows.front().kind == StreamKind::host)
            std::rotate(shown_lane.rows.begin(), shown_lane.rows.begin() + 1,
                        shown_lane.rows.end());
        timeline.lanes.push_back(std::move(shown_lane));
    }
    return timeline;
}

// The most of one lane, as the picture counts them.
std::size_t passes_shown(const Timeline& whole)
{
    std::size_t most = 0;
    for (const TimelineLane& lane : whole.lanes)
        for (const TimelineRow& row : lane.rows)
            if (row.kind == StreamKind::compute)
                most = std::max(most, static_cast<std::size_t>(std::count_if(
                                          row.slices.begin(), row.slices.end(), [](const Slice& s) {
                                              return s.micro_batch != BlockUse::no_index;
                                          })));
    return most;
}

} // namespace

TimeKind slice_kind_of(const OpRecord& record, const Label& label)
{
    if (is_transfer(record.kind))
        return engine::exposed_kind(label.group);
    if (label.phase == Phase::data)
        return TimeKind::data;
    return record.kind == OpKind::host ? TimeKind::host : engine::computing_kind(label.phase);
}

std::size_t Timeline::slice_count() const
{
    std::size_t count = 0;
    for (const TimelineLane& lane : lanes)
        for (const TimelineRow& row : lane.rows)
            count += row.slices.size();
    return count;
}

Timeline make_timeline(const Outcome& outcome, const TimelineOptions& options)
{
    const std::vector<OpRecord>& records = outcome.result->records;
    if (records.empty())
        return {};
    std::uint16_t step = 0;
    for (const OpRecord& record : records)
        step = std::max(step, record.step);
    StepSpan shown = span_of(records, outcome.plan->program, step);
    if (options.window) {
        shown.start += options.window->from;
        shown.end = std::min(shown.end, shown.start + options.window->length);
    }
    if (shown.end <= shown.start)
        return {};
    const Rows rows = rows_of(outcome, step, shown);
    SimTime resolution = (shown.end - shown.start) / first_resolution;
    Timeline timeline = build(outcome, rows, options, resolution);
    while (timeline.slice_count() > options.max_slices && resolution < shown.end - shown.start) {
        resolution = std::max(resolution * 2, SimTime(1));
        timeline = build(outcome, rows, options, resolution);
    }
    timeline.start = shown.start;
    timeline.end = shown.end;
    return timeline;
}

std::optional<TimelineWindow> window_of_passes(const Timeline& whole, std::size_t passes,
                                               std::size_t passes_of_step)
{
    std::size_t most = passes_of_step;
    if (most == 0)
        most = passes_shown(whole);
    if (most <= passes)
        return std::nullopt;
    const std::int64_t span = (whole.end - whole.start).value();
    return TimelineWindow{SimTime(0), SimTime(span / static_cast<std::int64_t>(most) *
                                              static_cast<std::int64_t>(passes))};
}

} // namespace trainyard
