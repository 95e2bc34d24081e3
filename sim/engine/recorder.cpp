#include "sim/engine/recorder.h"

#include "sim/engine/host_issue.h"

#include <algorithm>
#include <tuple>

namespace trainyard::engine {

Recorder::Recorder(const RunState& run, const RecordRequest& request, Segments segments) : run_(run)
{
    const bool all = segments == Segments::of_all;
    if (!request.lane && !all)
        return;
    keeps_segments_ = all;
    first_step_ = request.first_step;
    const std::size_t lanes = run.lanes.size();
    wanted_.resize(lanes);
    segments_.resize(lanes);
    for (std::size_t l = 0; l < lanes; ++l) {
        wanted_[l] = request.lane && request.lane(make_id<LaneId>(l)) ? 1 : 0;
        if (wanted_[l] != 0 || all)
            segments_[l].push_back(run.binding.lanes[l].start);
    }
}

SimTime Recorder::issued(std::uint32_t stream) const
{
    const std::uint32_t lane = run_.lane_of(stream);
    const LaneKind& kind = run_.kind_of(lane);
    const FlatOp& op = run_.head(stream);
    if (op.by_itself) // nobody issues a worker's ops, which may run ahead of the host
        return run_.binding.lanes[lane].start;
    const std::uint16_t step = run_.streams[stream].step;
    return issue_time(run_, lane, op, step, segments_[lane][barriers_before(kind, op, step)]);
}

void Recorder::add(std::uint32_t stream, SimTime moved_from, Bytes bytes, LaneId last_arriver)
{
    const StreamState& state = run_.streams[stream];
    if (state.step < first_step_)
        return;
    const std::uint32_t lane = run_.lane_of(stream);
    const FlatOp& op = run_.head(stream);
    const bool collective = op.kind == OpKind::collective;
    records_.push_back(
        {.lane = LaneId{lane},
         .stream = run_.plan_of(stream).id,
         .label = op.label,
         .op = op.order,
         .kind = op.kind,
         .micro_batch = op.micro_batch,
         .layer = op.layer,
         .step = state.step,
         .group = collective ? run_.binding.lanes[lane].groups[op.group.value] : GroupId::none(),
         .issued = issued(stream),
         .start = state.start,
         .transfer_start = moved_from,
         .end = run_.now,
         .bytes = bytes,
         .last_arriver = last_arriver});
}

std::vector<OpRecord> Recorder::take()
{
    std::stable_sort(records_.begin(), records_.end(), [](const OpRecord& a, const OpRecord& b) {
        return std::tie(a.end, a.lane, a.stream) < std::tie(b.end, b.lane, b.stream);
    });
    return std::move(records_);
}

} // namespace trainyard::engine
