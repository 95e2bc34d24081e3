#include "sim/report/traces/recorded_timeline.h"

#include "sim/report/traces/recorded_slices.h"
#include "sim/traces/rebuilt_step.h"

#include <fmt/core.h>

#include <algorithm>

namespace trainyard {
namespace {

constexpr std::size_t most_ranks = 4;
constexpr std::int64_t finest = 1200; // parts of the step that the picture tells apart

TimelineLane merged_lane(const RankActivity& rank, const RecordedLane& lane)
{
    TimelineLane out;
    out.name = fmt::format("rank {}, recorded", rank.rank);
    const SimTime resolution((lane.end - lane.begin).value() / finest);
    for (const RecordedStream& stream : lane.streams) {
        std::vector<Slice> slices;
        for (const RecordedSlice& one : stream.slices)
            slices.push_back({one.start, one.end, one.end - one.start, one.kind, BlockUse::no_index,
                              rank.text(rank.ops[one.op].name), 1});
        const bool main = out.rows.empty();
        out.rows.push_back({fmt::format("stream {}", stream.stream),
                            main ? StreamKind::compute : StreamKind::communication,
                            merged(slices, resolution)});
    }
    return out;
}

} // namespace

Timeline recorded_timeline(const JobTrace& job)
{
    Timeline out;
    const std::vector<int> steps = common_steps(job);
    if (steps.empty() || job.ranks.front().times != TimesStated::timeline)
        return out;
    const RecordedPicture picture = recorded_picture(job, steps.front(), most_ranks);
    for (const RecordedLane& lane : picture.lanes)
        out.lanes.push_back(merged_lane(job.ranks[lane.rank], lane));
    out.end = picture.end;
    return out;
}

Timeline both_timelines(const JobTrace& job, const Outcome& simulated)
{
    Timeline out = recorded_timeline(job);
    TimelineOptions options;
    options.max_lanes = most_ranks;
    const Timeline step = make_timeline(simulated, options);
    for (TimelineLane lane : step.lanes) {
        lane.name += ", simulated";
        for (TimelineRow& row : lane.rows)
            for (Slice& slice : row.slices) {
                slice.start -= step.start;
                slice.end -= step.start;
            }
        out.lanes.push_back(std::move(lane));
    }
    out.end = std::max(out.end, step.end - step.start);
    return out;
}

} // namespace trainyard
