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

PassCounts counts_of(const std::vector<Pass>& passes, std::size_t chunks)
{
    PassCounts out{std::vector<LonePasses>(chunks), {}};
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

// So many micro-batches fewer.
PipelineShape shortened(PipelineShape shape, int micro_batches)
{
    shape.micro_batches -= micro_batches;
    return shape;
}

// The shape with fewer micro-batches, by whole periods, where the schedule runs that too, and one
// period fewer still.
PipelineShape counted(const PipelineSchedule& schedule, const PipelineShape& shape)
{
    const int periods = shape.micro_batches / shape.stages - most_counted_per_stage;
    if (periods <= 0)
        return shape;
    const PipelineShape shorter = shortened(shape, periods * shape.stages);
    return schedule.refusal(shorter).empty() &&
                   schedule.refusal(shortened(shorter, shape.stages)).empty()
               ? shorter
               : shape;
}

// What `longer` has more of.
PassCounts operator-(PassCounts longer, const PassCounts& shorter)
{
    for (std::size_t chunk = 0; chunk < longer.alone.size(); ++chunk)
        for (std::size_t kind = 0; kind < longer.alone[chunk].size(); ++kind)
            longer.alone[chunk][kind] -= shorter.alone[chunk][kind];
    for (PassPairs& pair : longer.pairs)
        for (const PassPairs& other : shorter.pairs)
            if (other.forward == pair.forward && other.backward == pair.backward)
                pair.count -= other.count;
    return longer;
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
    out.periods = (shape.micro_batches - shorter.micro_batches) / shape.stages;
    for (int device = 0; device < shape.stages; ++device) {
        const std::vector<Pass> passes = schedule.passes(shorter, device);
        const std::size_t chunks = chunks_of(placement, device).size();
        DeviceOrder order{most_kept(passes, chunks), counts_of(passes, chunks), {}};
        for (const Pass& pass : passes) {
            out.splits = out.splits || pass.kind == PassKind::backward_weight;
            out.in_turns = out.in_turns || pass.with_next;
        }
        if (out.in_turns && out.periods > 0)
            order.period =
                order.passes -
                counts_of(schedule.passes(shortened(shorter, shape.stages), device), chunks);
        out.devices.push_back(std::move(order));
    }
    return out;
}

} // namespace trainyard
