#include "sim/report/traces/recorded_timeline.h"

#include "sim/engine/totals.h"
#include "sim/traces/rebuilt_step.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>

namespace trainyard {
namespace {

constexpr std::size_t most_ranks = 4;
constexpr std::int64_t finest = 1200; // parts of the step that the picture tells apart

class RankPicture {
public:
    RankPicture(const JobTrace& job, const std::vector<TransferMoving>& times, std::size_t rank,
                TraceTime begin)
        : job_(job), times_(times), rank_(job.ranks[rank]), begin_(begin)
    {}

    TimelineLane lane(const TraceSpan& step) const
    {
        std::map<std::uint32_t, StreamSlices> streams;
        for (const TraceOp& op : rank_.ops) {
            if (op.span.start >= step.end)
                break;
            if (op.span.start >= step.start)
                add(streams[op.stream], op);
        }
        std::vector<std::pair<TraceTime, std::uint32_t>> order;
        for (const auto& [stream, slices] : streams)
            order.emplace_back(-slices.computing, stream);
        std::sort(order.begin(), order.end());
        TimelineLane out;
        out.name = fmt::format("rank {}, recorded", rank_.rank);
        const SimTime resolution((step.length().value() * 1000) / finest);
        for (const auto& [less, stream] : order) {
            StreamSlices& of = streams.at(stream);
            const bool main = out.rows.empty();
            out.rows.push_back({fmt::format("stream {}", stream),
                                main ? StreamKind::compute : StreamKind::communication,
                                merged(of.slices, resolution)});
        }
        return out;
    }

private:
    struct StreamSlices {
        std::vector<Slice> slices;
        TraceTime computing;
        SimTime free;
    };

    SimTime picosecond_of(TraceTime time) const
    {
        return SimTime((time - begin_).value() * 1000);
    }

    void add(StreamSlices& to, const TraceOp& op) const
    {
        if (op.transfer == TraceOp::no_transfer) {
            to.computing += op.span.length();
            const TimeKind kind =
                op.crosses_host ? TimeKind::data : engine::computing_kind(op.phase);
            put(to, op.span, kind, rank_.text(op.name));
            return;
        }
        const TraceTime moving = times_[op.transfer].moving_from;
        const std::optional<GroupKind> role = job_.role_of(rank_.transfers[op.transfer]);
        put(to, {op.span.start, moving}, TimeKind::waiting, rank_.text(op.name));
        put(to, {moving, op.span.end}, engine::exposed_kind(role.value_or(GroupKind::world)),
            rank_.text(op.name));
    }

    // Where ops of a stream overlap the earlier one stays.
    void put(StreamSlices& to, const TraceSpan& span, TimeKind kind, const std::string& name) const
    {
        Slice slice{std::max(picosecond_of(span.start), to.free),
                    picosecond_of(span.end),
                    {},
                    kind,
                    BlockUse::no_index,
                    name,
                    1};
        slice.busy = slice.end - slice.start;
        if (slice.busy <= SimTime(0))
            return;
        to.free = slice.end;
        to.slices.push_back(std::move(slice));
    }

    const JobTrace& job_;
    const std::vector<TransferMoving>& times_;
    const RankActivity& rank_;
    TraceTime begin_;
};

} // namespace

Timeline recorded_timeline(const JobTrace& job)
{
    Timeline out;
    const std::vector<int> steps = common_steps(job);
    if (steps.empty() || job.ranks.front().times != TimesStated::timeline)
        return out;
    const auto times = transfer_times(job);
    const std::size_t shown = std::min(job.ranks.size(), most_ranks);
    std::vector<TraceSpan> spans; // on the clock of the first rank
    for (std::size_t r = 0; r < shown; ++r) {
        const TraceSpan& span = step_numbered(job.ranks[r], steps.front()).span;
        spans.push_back({span.start - job.clock_offsets[r], span.end - job.clock_offsets[r]});
    }
    TraceTime first = spans.front().start;
    TraceTime last = spans.front().end;
    for (const TraceSpan& span : spans) {
        first = std::min(first, span.start);
        last = std::max(last, span.end);
    }
    for (std::size_t r = 0; r < shown; ++r)
        out.lanes.push_back(
            RankPicture(job, times[r], r, first + job.clock_offsets[r])
                .lane(step_numbered(job.ranks[r], steps.front()).span));
    out.end = SimTime((last - first).value() * 1000);
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
