#include "sim/traces/trace_steps.h"

#include <algorithm>
#include <charconv>
#include <set>

namespace trainyard {
namespace {

std::optional<int> step_number(std::string_view name)
{
    constexpr std::string_view prefix = "ProfilerStep#";
    int number = 0;
    if (!name.starts_with(prefix))
        return std::nullopt;
    name.remove_prefix(prefix.size());
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
    return error == std::errc{} ? std::optional(number) : std::nullopt;
}

std::vector<TraceStep> annotated_steps(const RankTrace& trace)
{
    std::vector<std::optional<int>> numbers;
    for (std::size_t i = 0; i < trace.names.size(); ++i)
        numbers.push_back(step_number(trace.names.text(make_id<TraceNameId>(i))));
    std::map<int, TraceSpan> spans; // the first of each number
    for (const HostEvent& event : trace.host_events)
        if (const std::optional<int> number = numbers[event.name.value])
            spans.try_emplace(*number, event.span);
    std::vector<TraceStep> steps;
    for (const auto& [number, span] : spans)
        steps.push_back({number, {}, span});
    std::sort(steps.begin(), steps.end(),
              [](const TraceStep& a, const TraceStep& b) { return a.host.start < b.host.start; });
    return steps;
}

// One past the step in which the host issued an op, as far as that is known; 0: before the first.
std::size_t step_of(const std::vector<TraceStep>& steps, const TraceOp& op)
{
    if (op.left_over)
        return 0;
    const TraceTime time = op.latest_issue();
    const auto after =
        std::upper_bound(steps.begin(), steps.end(), time,
                         [](TraceTime at, const TraceStep& step) { return at < step.host.start; });
    return static_cast<std::size_t>(after - steps.begin());
}

// The device's side of annotated steps.
void bound_steps(std::vector<TraceStep>& steps, const std::vector<TraceOp>& ops)
{
    std::vector<TraceTime> ends(steps.size() + 1); // of the ops issued in each, 0: before all
    std::vector<bool> any(steps.size() + 1, false);
    for (const TraceOp& op : ops) {
        const std::size_t step = step_of(steps, op);
        if (step == steps.size() && op.latest_issue() >= steps.back().host.end)
            continue; // after the last
        ends[step] = any[step] ? std::max(ends[step], op.span.end) : op.span.end;
        any[step] = true;
    }
    TraceTime free = any[0] ? ends[0] : steps.front().host.start;
    for (std::size_t i = 0; i < steps.size(); ++i) {
        if (i > 0)
            free = std::max(free, any[i] ? ends[i] : free);
        steps[i].span.start = std::max(steps[i].host.start, free);
    }
    for (std::size_t i = 0; i + 1 < steps.size(); ++i)
        steps[i].span.end = std::max(steps[i + 1].span.start, steps[i].span.start);
    steps.back().span.end =
        std::max({steps.back().host.end, any.back() ? ends.back() : steps.back().host.end,
                  steps.back().span.start});
}

std::vector<TraceStep> repeated_steps(const std::vector<TraceOp>& ops)
{
    std::map<std::uint32_t, TraceTime> busy;
    for (const TraceOp& op : ops)
        busy[op.stream] += op.span.length();
    const std::uint32_t stream =
        std::max_element(busy.begin(), busy.end(), [](const auto& a, const auto& b) {
            return a.second < b.second;
        })->first;
    std::vector<TraceNameId> names;
    std::vector<TraceTime> starts;
    for (const TraceOp& op : ops)
        if (op.stream == stream) {
            names.push_back(op.name);
            starts.push_back(op.span.start);
        }
    std::vector<TraceStep> steps;
    const std::size_t period = period_of(names);
    for (std::size_t i = 0; period > 0 && i + period < names.size() + 1; i += period) {
        const TraceTime end = i + period < names.size() ? starts[i + period] : ops.back().span.end;
        steps.push_back({static_cast<int>(i / period), {starts[i], end}, {starts[i], end}});
    }
    return steps;
}

} // namespace

std::size_t period_of(const std::vector<TraceNameId>& names)
{
    constexpr std::size_t most_candidates = 64;
    std::map<TraceNameId, std::vector<std::size_t>> places;
    for (std::size_t i = 0; i < names.size(); ++i)
        places[names[i]].push_back(i);
    std::map<std::size_t, std::size_t> votes; // distances between neighbours of one name
    for (const auto& [name, at] : places)
        for (std::size_t i = 1; i < at.size(); ++i)
            ++votes[at[i] - at[i - 1]];
    std::vector<std::pair<std::size_t, std::size_t>> candidates;
    for (const auto& [distance, count] : votes)
        if (distance >= 3 && 2 * distance <= names.size())
            candidates.emplace_back(count, distance);
    std::sort(candidates.rbegin(), candidates.rend());
    candidates.resize(std::min(candidates.size(), most_candidates));
    // A period is a step only if the kernels that occur once in it, such as an optimizer's, repeat.
    std::size_t best = 0;
    for (const auto& [count, distance] : candidates) {
        std::size_t same = 0;
        for (std::size_t i = distance; i < names.size(); ++i)
            same += names[i] == names[i - distance] ? 1 : 0;
        if (10 * same >= 9 * (names.size() - distance) && (best == 0 || distance < best))
            best = distance;
    }
    return best;
}

void find_steps(const RankTrace& trace, RankActivity& activity)
{
    activity.steps = annotated_steps(trace);
    if (!activity.steps.empty()) {
        activity.step_source = StepSource::annotations;
        bound_steps(activity.steps, activity.ops);
        return;
    }
    // Without times nothing tells a step from a layer that repeats.
    if (activity.times == TimesStated::timeline)
        activity.steps = repeated_steps(activity.ops);
    if (!activity.steps.empty()) {
        activity.step_source = StepSource::periodicity;
        return;
    }
    const TraceTime start = activity.ops.front().span.start;
    TraceTime end = start;
    for (const TraceOp& op : activity.ops)
        end = std::max(end, op.span.end);
    activity.steps = {{0, {start, end}, {start, end}}};
    activity.step_source = StepSource::whole;
}

std::optional<std::size_t> step_at(const std::vector<TraceStep>& steps, TraceTime time)
{
    const auto after =
        std::upper_bound(steps.begin(), steps.end(), time,
                         [](TraceTime at, const TraceStep& step) { return at < step.span.start; });
    if (after == steps.begin() || time >= (after - 1)->span.end)
        return std::nullopt;
    return static_cast<std::size_t>(after - steps.begin() - 1);
}

} // namespace trainyard
