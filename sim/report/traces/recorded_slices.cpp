#include "sim/report/traces/recorded_slices.h"

#include "sim/engine/totals.h"
#include "sim/traces/rebuilt_program.h"
#include "sim/traces/step_account.h"

#include <algorithm>
#include <map>

namespace trainyard {
namespace {

class LaneMaker {
public:
    LaneMaker(const JobTrace& job, const std::vector<TransferMoving>& times, std::size_t rank,
              TraceTime begin)
        : job_(job), times_(times), place_(rank), rank_(job.ranks[rank]), begin_(begin)
    {}

    RecordedLane lane(const TraceSpan& step) const
    {
        std::map<std::uint32_t, RecordedStream> streams;
        for (std::uint32_t i = 0; i < rank_.ops.size(); ++i) {
            const TraceOp& op = rank_.ops[i];
            if (op.span.start >= step.end)
                break;
            if (op.span.start >= step.start)
                add(streams[op.stream], op, i);
        }
        RecordedLane out{place_, since_begin(step.start), since_begin(step.end), {}, {}};
        for (auto& [stream, made] : streams) {
            made.stream = stream;
            out.streams.push_back(std::move(made));
        }
        std::stable_sort(out.streams.begin(), out.streams.end(),
                         [](const RecordedStream& a, const RecordedStream& b) {
                             return a.computing > b.computing;
                         });
        for (const StepPiece& piece : step_pieces(job_, times_, place_, step))
            if (piece.kind)
                out.pieces.push_back(
                    {since_begin(piece.span.start), since_begin(piece.span.end), *piece.kind});
        return out;
    }

private:
    SimTime since_begin(TraceTime time) const { return SimTime((time - begin_).value() * 1000); }

    void add(RecordedStream& to, const TraceOp& op, std::uint32_t index) const
    {
        if (op.transfer == TraceOp::no_transfer) {
            to.computing += op.span.length();
            put(to, op.span, op.crosses_host ? TimeKind::data : engine::computing_kind(op.phase),
                index);
            return;
        }
        const TraceTime moving = times_[op.transfer].moving_from;
        const std::optional<GroupKind> role = job_.role_of(rank_.transfers[op.transfer]);
        put(to, {op.span.start, moving}, TimeKind::waiting, index);
        put(to, {moving, op.span.end}, engine::exposed_kind(role.value_or(GroupKind::world)),
            index);
    }

    // Where ops of a stream overlap the earlier one stays.
    void put(RecordedStream& to, const TraceSpan& span, TimeKind kind, std::uint32_t op) const
    {
        const SimTime free = to.slices.empty() ? SimTime() : to.slices.back().end;
        const RecordedSlice slice{std::max(since_begin(span.start), free), since_begin(span.end),
                                  kind, op};
        if (slice.end > slice.start)
            to.slices.push_back(slice);
    }

    const JobTrace& job_;
    const std::vector<TransferMoving>& times_;
    std::size_t place_;
    const RankActivity& rank_;
    TraceTime begin_;
};

} // namespace

RecordedPicture recorded_picture(const JobTrace& job, int step, std::size_t most,
                                 const WorkControl& work)
{
    const auto times = transfer_times(job);
    const std::size_t shown = std::min(job.ranks.size(), most);
    std::vector<TraceSpan> spans; // on the clock of the first rank
    for (std::size_t r = 0; r < shown; ++r) {
        const TraceSpan& span = step_numbered(job.ranks[r], step).span;
        spans.push_back({span.start - job.clock_offsets[r], span.end - job.clock_offsets[r]});
    }
    TraceTime first = spans.front().start;
    for (const TraceSpan& span : spans)
        first = std::min(first, span.start);
    RecordedPicture out;
    for (std::size_t r = 0; r < shown; ++r) {
        work.check();
        out.lanes.push_back(LaneMaker(job, times[r], r, first + job.clock_offsets[r])
                                .lane(step_numbered(job.ranks[r], step).span));
        out.end = std::max(out.end, out.lanes.back().end);
    }
    return out;
}

} // namespace trainyard
