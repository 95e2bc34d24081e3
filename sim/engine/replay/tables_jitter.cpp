// The times of compute whose kernels jitter, drawn as it is executed.

#include "sim/engine/replay/tables.h"
#include "sim/engine/totals.h"

#include <algorithm>

namespace trainyard::engine::replay {

void Tables::find_jitters(std::uint32_t lane_class)
{
    const std::vector<std::uint32_t>& lanes = classes_.all[lane_class].lanes;
    std::uint32_t& greatest = greatest_factors_.emplace_back(full_share);
    std::vector<LaneJitter>& jitters = jitters_.emplace_back();
    sums_.emplace_back();
    const bool some = std::any_of(lanes.begin(), lanes.end(), [&](std::uint32_t l) {
        return binding_.lanes[l].jitter.valid();
    });
    for (std::size_t i = 0; i < lanes.size() && some; ++i) {
        const Lane& lane = binding_.lanes[lanes[i]];
        const Jitter* jitter = lane.jitter.valid() ? &binding_.jitters[lane.jitter.value] : nullptr;
        if (jitter != nullptr && (i == 0 || jitters.back().jitter != jitter))
            greatest = std::max(greatest,
                                *std::max_element(jitter->factors.begin(), jitter->factors.end()));
        jitters.push_back({jitter, jitter ? jitter_key(jitter->seed, lane.rank) : 0});
    }
}

std::uint32_t Tables::draw_times(std::uint32_t lane_class, const FlatOp& op, bool counted)
{
    const TimeTable* steady = times(lane_class, op);
    TimeTable*& drawn = drawn_tables_[steady];
    const auto longest = [&](const TimeTable& table) {
        return span_of(static_cast<u128>(table.greatest) * greatest_factors_[lane_class] >> 20)
            .value();
    };
    if (drawn == nullptr) {
        drawn = keep(steady->times);
        drawn->greatest = longest(*steady);
        if (steady->kernel != nullptr) {
            TimeTable* kernel = keep(steady->kernel->times);
            kernel->greatest = longest(*steady->kernel);
            drawn->kernel = kernel;
        }
    }
    const std::size_t sum = phase_index(op.phase);
    if (counted) {
        sums_[lane_class].resize(std::tuple_size_v<ComputeWork>);
        sums_[lane_class][sum].resize(classes_.all[lane_class].lanes.size());
    }
    jittered_ops_.push_back({lane_class, op.order, op.kernels, sum, counted, steady, drawn});
    return static_cast<std::uint32_t>(jittered_ops_.size() - 1);
}

Time Tables::drawn_time(std::uint32_t lane_class, std::uint32_t place, std::size_t index,
                        Time steady) const
{
    const LaneJitter& lane = jitters_[lane_class][index];
    if (lane.jitter == nullptr)
        return steady;
    return jittered(SimTime(steady), jitter_factor(*lane.jitter, lane.key, step_, place)).value();
}

Time Tables::drawn_time(std::uint32_t lane_class, const FlatOp& op, std::size_t index)
{
    return drawn_time(lane_class, op.order, index, times(lane_class, op)->times[index]);
}

void Tables::draw(std::uint32_t number, std::size_t first, std::size_t count, bool measured)
{
    const JitteredOp& jittered = jittered_ops_[number];
    Time* times = jittered.drawn->times.data();
    for (std::size_t i = first; i < first + count; ++i)
        times[i] = drawn_time(jittered.lane_class, jittered.place, i, jittered.steady->times[i]);
    if (jittered.drawn->kernel != nullptr) {
        Time* kernel = jittered.drawn->kernel->times.data();
        for (std::size_t i = first; i < first + count; ++i)
            kernel[i] = jittered.kernels == 1 ? times[i] : times[i] / jittered.kernels;
    }
    if (!measured || !jittered.counted)
        return;
    Time* sum = sums_[jittered.lane_class][jittered.sum].data();
    for (std::size_t i = first; i < first + count; ++i)
        sum[i] += times[i];
}

} // namespace trainyard::engine::replay
