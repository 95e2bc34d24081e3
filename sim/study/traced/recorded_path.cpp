#include "sim/study/traced/recorded_path.h"

#include "sim/study/recorded/record_graph.h"

#include <algorithm>
#include <numeric>

namespace trainyard {
namespace {

RecordedPathShare& share_of(std::vector<RecordedPathShare>& path, PathThing thing, DeviceWork work)
{
    for (RecordedPathShare& share : path)
        if (share.thing == thing && share.work == work)
            return share;
    path.push_back({thing, work, Seconds()});
    return path.back();
}

// What an entry that stands before an op's own is: a stretch in which nothing runs, or the wait of
// a transfer.
PathThing idle_before(const RebuiltProgram& rebuilt, const RankActivity& rank,
                      const OpRecord& record)
{
    const std::vector<std::size_t>& ops = rebuilt.op[record.lane.value];
    const auto own = std::find_if(ops.begin() + record.op, ops.end(),
                                  [](std::size_t op) { return op != RebuiltProgram::no_op; });
    if (record.kind == OpKind::collective)
        return PathThing::waiting;
    if (own == ops.end())
        return PathThing::queued;
    const TraceOp& op = rank.ops[*own];
    return op.issued || op.left_over ? PathThing::queued : PathThing::untold;
}

} // namespace

void add_critical_path(RunSummary& run, const JobTrace& job, const WorkControl& work)
{
    const std::vector<int> steps = common_steps(job);
    if (!run.rebuilt || steps.empty())
        return;
    std::vector<std::size_t> everyone(job.ranks.size());
    std::iota(everyone.begin(), everyone.end(), std::size_t{0});
    const std::vector<std::vector<TransferMoving>> times = transfer_times(job);
    const RebuiltProgram rebuilt = rebuilt_program(job, times, RecordedTimes(job, times, everyone),
                                                   steps.front(), TransferChange());
    const Checked<StepResult> result = run_rebuilt(rebuilt, 1, work);
    if (!result)
        return;
    const RecordGraph graph(rebuilt.program, rebuilt.binding, result->records);
    for (const PathPiece& piece : graph.critical_path()) {
        const OpRecord& record = result->records[piece.record];
        const std::size_t op = rebuilt.op[record.lane.value][record.op];
        PathThing thing = PathThing::op;
        DeviceWork kind = DeviceWork::other;
        if (piece.part == PathPart::host || record.kind == OpKind::host)
            thing = PathThing::host;
        else if (op == RebuiltProgram::no_op)
            thing = idle_before(rebuilt, job.ranks[record.lane.value], record);
        else
            kind = job.ranks[record.lane.value].ops[op].work;
        share_of(run.path, thing, kind).time += to_seconds(piece.to - piece.from);
    }
    std::stable_sort(
        run.path.begin(), run.path.end(),
        [](const RecordedPathShare& a, const RecordedPathShare& b) { return a.time > b.time; });
}

} // namespace trainyard
