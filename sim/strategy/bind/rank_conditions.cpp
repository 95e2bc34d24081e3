#include "sim/strategy/bind/rank_conditions.h"

#include "sim/base/random.h"
#include "sim/strategy/bind/jitter_table.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace trainyard {

namespace {

// Compute that takes `slowdown` times as long drains at this speed.
std::uint32_t speed_of(double slowdown)
{
    const double speed = static_cast<double>(full_share) / slowdown;
    return static_cast<std::uint32_t>(
        std::clamp(std::lround(speed), 1L, static_cast<long>(full_share)));
}

std::vector<SimTime> late_steps(const Lateness& late, DeviceId device, int steps)
{
    std::vector<SimTime> times;
    for (int step = 0; step < steps; ++step) {
        const std::uint64_t word =
            hash_key(late.seed, device.value, static_cast<std::uint64_t>(step));
        times.push_back(to_unit_interval(word) < late.chance ? late.time : SimTime(0));
    }
    return times;
}

void add(std::vector<SimTime>& sum, const std::vector<SimTime>& more)
{
    sum.resize(std::max(sum.size(), more.size()));
    for (std::size_t i = 0; i < more.size(); ++i)
        sum[i] += more[i];
}

// All of it as numbers, for comparison.
std::vector<std::int64_t> signature(const RankConditions& rank)
{
    std::vector<std::int64_t> out{rank.start.value(), rank.stop.at.value(),
                                  static_cast<std::int64_t>(rank.stop.kind),
                                  static_cast<std::int64_t>(rank.windows.size()),
                                  static_cast<std::int64_t>(rank.late.size())};
    for (const SpeedWindow& window : rank.windows)
        out.insert(out.end(), {window.begin.value(), window.end.value(), window.speed});
    for (const auto* late : {&rank.late, &rank.late_input})
        for (const SimTime time : *late)
            out.push_back(time.value());
    return out;
}

} // namespace

BoundConditions bind_conditions(const Conditions& conditions, std::size_t ranks)
{
    BoundConditions bound;
    const bool any = !conditions.spans.empty() || !conditions.jitter.empty() ||
                     !conditions.late.empty() || !conditions.start.empty() ||
                     !conditions.stop.empty();
    if (!any)
        return bound;
    bound.ranks.resize(ranks);
    for (const auto& [device, span] : conditions.spans)
        if (device.value < ranks)
            bound.ranks[device.value].windows.push_back(
                {span.from, span.until, speed_of(span.slowdown)});
    for (RankConditions& rank : bound.ranks)
        std::ranges::sort(rank.windows, {}, &SpeedWindow::begin);
    std::map<std::uint64_t, JitterId> known; // by seed
    for (const auto& [device, jitter] : conditions.jitter) {
        if (device.value >= ranks)
            continue;
        const auto [found, fresh] =
            known.emplace(jitter.seed, make_id<JitterId>(bound.jitters.size()));
        if (fresh)
            bound.jitters.push_back(jitter_table(jitter));
        bound.ranks[device.value].jitter = found->second;
    }
    for (const auto& [device, late] : conditions.late)
        if (device.value < ranks)
            add(late.part == LatePart::step ? bound.ranks[device.value].late
                                            : bound.ranks[device.value].late_input,
                late_steps(late, device, conditions.steps));
    for (const auto& [device, start] : conditions.start)
        if (device.value < ranks)
            bound.ranks[device.value].start = start;
    for (const auto& [device, stop] : conditions.stop)
        if (device.value < ranks)
            bound.ranks[device.value].stop = stop;
    return bound;
}

std::vector<std::uint32_t> condition_colours(const BoundConditions& bound)
{
    std::vector<std::uint32_t> colours;
    std::map<std::vector<std::int64_t>, std::uint32_t> numbers;
    std::uint32_t next = 0;
    for (const RankConditions& rank : bound.ranks) {
        if (rank.jitter.valid()) {
            colours.push_back(next++);
            continue;
        }
        const auto [found, fresh] = numbers.emplace(signature(rank), next);
        next += fresh ? 1 : 0;
        colours.push_back(found->second);
    }
    return colours;
}

void apply(const BoundConditions& bound, Lane& lane)
{
    if (bound.ranks.empty())
        return;
    const RankConditions& rank = bound.ranks[lane.rank.value];
    lane.start = rank.start;
    lane.stop = rank.stop;
    lane.windows = rank.windows;
    lane.jitter = rank.jitter;
    lane.late = rank.late;
    lane.late_input = rank.late_input;
}

} // namespace trainyard
