#include "sim/strategy/bound/pass_order.h"

#include "sim/base/ids.h"

#include <algorithm>

namespace trainyard {

namespace {

// Longer schedules begin and end as this many micro-batches per stage do, and keep no less.
constexpr int most_counted_per_stage = 4;

std::vector<int> most_kept(const std::vector<Pass>& passes, std::size_t chunks)
{
    std::vector<int> now(chunks, 0);
    std::vector<int> most = now;
    int sum = 0;
    int most_sum = 0;
    for (const Pass& pass : passes) {
        const int change = pass.kind == PassKind::forward ? 1 : hands_back(pass.kind) ? -1 : 0;
        now[to_size(pass.chunk)] += change;
        sum += change;
        if (!pass.with_next && sum > most_sum) {
            most_sum = sum;
            most = now;
        }
    }
    return most;
}

void count_pair(const Pass& forward, const Pass& backward, std::vector<PassPairs>& pairs)
{
    const auto same = std::ranges::find_if(pairs, [&](const PassPairs& pair) {
        return pair.forward == forward.chunk && pair.backward == backward.chunk;
    });
    if (same == pairs.end())
        pairs.push_back({forward.chunk, backward.chunk, 1});
    else
        ++same->count;
}

DeviceOrder device_order(const std::vector<Pass>& passes, std::size_t chunks)
{
    DeviceOrder out{most_kept(passes, chunks), std::vector<LonePasses>(chunks), {}};
    for (std::size_t i = 0; i < passes.size(); ++i) {
        const Pass& pass = passes[i];
        if (pass.with_next && passes[i + 1].kind == PassKind::backward) {
            count_pair(pass, passes[i + 1], out.pairs);
            ++i;
        } else
            ++out.alone[to_size(pass.chunk)][static_cast<std::size_t>(pass.kind)];
    }
    return out;
}

// The shape with fewer micro-batches, where the schedule runs that too.
PipelineShape counted(const PipelineSchedule& schedule, PipelineShape shape)
{
    PipelineShape shorter = shape;
    shorter.micro_batches = std::min(shape.micro_batches, most_counted_per_stage * shape.stages);
    return schedule.refusal(shorter).empty() ? shorter : shape;
}

} // namespace

PassOrder pass_order(const PipelineSchedule& schedule, const PipelineShape& shape)
{
    PassOrder out;
    out.refusal = schedule.refusal(shape);
    if (!out.refusal.empty())
        return out;
    const StagePlacement placement = schedule.placement(shape);
    const PipelineShape shorter = counted(schedule, shape);
    out.micro_batches = shorter.micro_batches;
    for (int device = 0; device < shape.stages; ++device) {
        const std::vector<Pass> passes = schedule.passes(shorter, device);
        out.devices.push_back(device_order(passes, chunks_of(placement, device).size()));
        for (const Pass& pass : passes) {
            out.splits = out.splits || pass.kind == PassKind::backward_weight;
            out.in_turns = out.in_turns || pass.with_next;
        }
    }
    return out;
}

} // namespace trainyard
