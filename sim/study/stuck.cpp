#include "sim/study/stuck.h"

#include "sim/base/units.h"
#include "sim/strategy/group_options.h"

#include <fmt/core.h>

#include <algorithm>
#include <set>

namespace trainyard {

bool holds_everyone(const Stuck& stuck)
{
    std::set<LaneId> held;
    for (const Culprit& culprit : stuck.standstill.culprits)
        held.insert(culprit.lane);
    for (const Wait& wait : stuck.standstill.waits)
        for (const Waiter& waiter : wait.here)
            held.insert(waiter.lane);
    return held.size() == stuck.binding->lanes.size();
}

bool any_stops_before(const Binding& binding, SimTime time)
{
    return std::ranges::any_of(binding.lanes, [time](const Lane& lane) {
        return lane.stop.ever() && lane.stop.at < time;
    });
}

std::optional<Seconds> time_out_of(const Scenario& scenario, Backend backend)
{
    if (backend == Backend::nvshmem)
        return std::nullopt;
    if (scenario.software.timeout)
        return scenario.software.timeout;
    return Seconds(backend == Backend::nccl ? 600 : 1800);
}

std::optional<Notice> first_notice(const Stuck& stuck)
{
    std::optional<Notice> first;
    SimTime first_end{};
    for (const Wait& wait : stuck.standstill.waits)
        for (const Waiter& waiter : wait.here) {
            const Label& label = stuck.plan->program.labels[waiter.place.label.value];
            const Backend backend = backend_of(stuck.job.strategy, label.group);
            const std::optional<Seconds> after = time_out_of(stuck.scenario, backend);
            if (!after)
                continue;
            const SimTime end = waiter.issued + to_sim_time(*after);
            if (first && first_end <= end)
                continue;
            first = Notice{waiter.lane, waiter.place, waiter.issued, backend, *after};
            first_end = end;
        }
    return first;
}

Problems time_out_problems(const Stuck& stuck)
{
    const std::optional<Notice> notice = first_notice(stuck);
    if (!notice || notice->issued + to_sim_time(notice->after) > stuck.standstill.at)
        return {};
    return {{"", 0, "/software/timeout",
             fmt::format("a time-out of {} is over while others still work: nothing goes on any "
                         "more only {} after the measured step began",
                         to_display(notice->after),
                         to_display(stuck.standstill.at - stuck.measured_from)),
             "longer than a step takes", Severity::error}};
}

Problems stops_too_late(const Scenario& scenario, const StepResult& result, SimTime measured_from)
{
    Problems problems;
    const SimTime length = result.step_ends.back() - measured_from;
    for (std::size_t i = 0; i < scenario.perturbations.size(); ++i) {
        const Perturbation& p = scenario.perturbations[i];
        if (p.stops())
            problems.push_back(
                {"", 0, fmt::format("/perturbations/{}/{}", i, p.hangs ? "hangs" : "dies"),
                 fmt::format("the measured step is over before: it takes {}", to_display(length)),
                 "an earlier time", Severity::error});
    }
    return problems;
}

} // namespace trainyard
