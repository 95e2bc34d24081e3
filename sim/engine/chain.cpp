#include "sim/engine/chain.h"

namespace trainyard::engine {

namespace {

constexpr std::uint8_t longest_chain = 255;

// Whether what an op waits for has finished.
bool waits_over(const RunState& run, std::uint32_t lane, const FlatOp& op, std::uint32_t step)
{
    const LaneKind& kind = run.kind_of(lane);
    for (std::uint32_t i = 0; i < op.wait_count; ++i) {
        const StepWait& wait = kind.waits[op.wait_first + i];
        if (wait.previous_step && step == 0)
            continue;
        const std::uint32_t needed = kind.done_after(wait, step);
        if (run.streams[run.stream_index(lane, wait.stream)].done < needed)
            return false;
    }
    return true;
}

// Whether the op behind the head of `stream` starts as soon as that one ends, and nobody waits for
// the end.
bool leads_on(const RunState& run, std::uint32_t lane, const StreamState& stream,
              std::uint32_t last)
{
    const LaneKind& kind = run.kind_of(lane);
    const FlatOp& op = kind.ops[stream.head];
    if (op.watched || op.ends_segment || stream.head == last)
        return false;
    // When it ends depends on the host, which may have passed a barrier by the time that is asked.
    if (kind.host.barriers > 0 && stream.second_mark > stream.mark)
        return false;
    const FlatOp& next = kind.ops[stream.head + 1];
    if (next.kind != OpKind::compute || next.by_itself || !waits_over(run, lane, next, stream.step))
        return false;
    const LaneState& state = run.lanes[lane];
    const std::uint32_t barriers = barriers_before(kind, next, stream.step);
    if (state.host_segment != barriers)
        return state.host_segment > barriers;
    return issue_time(run, lane, next, stream.step, state.host_base) <= end_of(stream);
}

} // namespace

SimTime begin_chain(RunState& run, std::uint32_t lane, std::uint32_t index)
{
    const StreamPlan& plan = run.plan_of(index);
    const std::uint32_t last = plan.op_first + plan.op_count - 1;
    StreamState end = run.streams[index];
    std::uint8_t length = 0;
    for (; length < longest_chain && end_of(end) < longest_sim_time; ++length) {
        if (!leads_on(run, lane, end, last))
            break;
        end.chained = 1;
        go_on(run, lane, end);
    }
    run.streams[index].chained = length;
    return end_of(end);
}

} // namespace trainyard::engine
