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
            thing = PathThing::queued;
        else
            kind = job.ranks[record.lane.value].ops[op].work;
        share_of(run.path, thing, kind).time += to_seconds(piece.to - piece.from);
    }
    std::stable_sort(
        run.path.begin(), run.path.end(),
        [](const RecordedPathShare& a, const RecordedPathShare& b) { return a.time > b.time; });
}

} // namespace trainyard
