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

// The first of each number; `again` counts the others.
std::vector<TraceStep> annotated_steps(const RankTrace& trace, std::size_t& again)
{
    std::vector<std::optional<int>> numbers;
    for (std::size_t i = 0; i < trace.names.size(); ++i)
        numbers.push_back(step_number(trace.names.text(make_id<TraceNameId>(i))));
    std::map<int, TraceSpan> spans;
    for (const HostEvent& event : trace.host_events)
        if (const std::optional<int> number = numbers[event.name.value])
            again += spans.try_emplace(*number, event.span).second ? 0 : 1;
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

// The stream on which most is computed, or where nothing is, the busiest.
std::uint32_t computing_stream(const std::vector<TraceOp>& ops)
{
    std::map<std::uint32_t, std::pair<TraceTime, TraceTime>> busy; // computing, with all else
    for (const TraceOp& op : ops) {
        auto& [computing, all] = busy[op.stream];
        all += op.span.length();
        if (op.transfer == TraceOp::no_transfer)
            computing += op.span.length();
    }
    return std::max_element(busy.begin(), busy.end(),
                            [](const auto& a, const auto& b) { return a.second < b.second; })
        ->first;
}

// What holds an optimizer's update each time is a step, whatever runs around. What runs before the
// first repetition may push an update out at the end.
bool each_updates(const std::vector<TraceOp>& ops, const std::vector<TraceStep>& steps)
{
    std::set<std::size_t> updated;
    for (const TraceOp& op : ops)
        if (const auto step = step_at(steps, op.span.start); step && op.phase == Phase::optimizer)
            updated.insert(*step);
    return updated.size() + 1 >= steps.size();
}

void find_repeated_steps(RankActivity& activity)
{
    const std::uint32_t stream = computing_stream(activity.ops);
    std::vector<TraceNameId> names;
    std::vector<TraceTime> starts;
    for (const TraceOp& op : activity.ops)
        if (op.stream == stream) {
            names.push_back(op.name);
            starts.push_back(op.span.start);
        }
    const std::size_t period = period_of(names);
    std::vector<TraceStep> steps;
    for (std::size_t i = 0; period > 0 && i + period < names.size() + 1; i += period) {
        const TraceTime end =
            i + period < names.size() ? starts[i + period] : activity.ops.back().span.end;
        steps.push_back({static_cast<int>(i / period), {starts[i], end}, {starts[i], end}});
    }
    if (period > 0 && is_part_of_step(names, period) && !each_updates(activity.ops, steps)) {
        activity.parts = steps.size();
        activity.part = steps.front().span.length();
    } else {
        activity.steps = std::move(steps);
    }
}

using PlacesOfNames = std::map<TraceNameId, std::vector<std::size_t>>;

PlacesOfNames places_of(const std::vector<TraceNameId>& names)
{
    PlacesOfNames places;
    for (std::size_t i = 0; i < names.size(); ++i)
        places[names[i]].push_back(i);
    return places;
}

// Distances at which names come again, each name with one vote: a layer's kernels are many, those
// that run once in a step count as much. Where a name comes several times in a row, the first.
std::vector<std::size_t> likely_periods(const PlacesOfNames& places, std::size_t kernels)
{
    constexpr std::size_t most = 64;
    std::map<std::size_t, double> votes;
    for (const auto& [name, at] : places) {
        std::map<std::size_t, double> own;
        const auto vote = [&](const std::vector<std::size_t>& firsts) {
            for (std::size_t i = 1; i < firsts.size(); ++i)
                own[firsts[i] - firsts[i - 1]] += 1 / static_cast<double>(firsts.size() - 1);
        };
        std::vector<std::size_t> runs;
        for (std::size_t i = 0; i < at.size(); ++i)
            if (i == 0 || at[i] != at[i - 1] + 1)
                runs.push_back(at[i]);
        vote(at);
        vote(runs);
        for (const auto& [distance, count] : own)
            votes[distance] += count;
    }
    std::vector<std::pair<double, std::size_t>> sorted;
    for (const auto& [distance, count] : votes)
        if (distance >= 3 && 2 * distance <= kernels)
            sorted.emplace_back(count, distance);
    std::sort(sorted.rbegin(), sorted.rend());
    sorted.resize(std::min(sorted.size(), most));
    std::vector<std::size_t> out;
    for (const auto& [count, distance] : sorted)
        out.push_back(distance);
    std::sort(out.begin(), out.end());
    return out;
}

// Of a name's neighbours at that distance: how many are the same.
struct Repeats {
    std::size_t same = 0;
    std::size_t all = 0;

    bool kept() const { return 10 * same >= 9 * all; }
    bool broken() const { return 2 * same < all; }
};

Repeats repeats_of(const std::vector<TraceNameId>& names, const std::vector<std::size_t>& places,
                   std::size_t period)
{
    Repeats out;
    const auto look = [&](std::size_t a, std::size_t b) {
        ++out.all;
        out.same += names[a] == names[b] ? 1 : 0;
    };
    for (const std::size_t place : places) {
        if (place >= period)
            look(place, place - period);
        if (place + period < names.size())
            look(place, place + period);
    }
    return out;
}

} // namespace

std::size_t period_of(const std::vector<TraceNameId>& names)
{
    struct Period {
        std::size_t kernels = 0;
        std::vector<Repeats> of_names;
    };
    const PlacesOfNames places = places_of(names);
    std::vector<Period> periods;
    for (const std::size_t distance : likely_periods(places, names.size())) {
        Period period{distance, {}};
        Repeats sum;
        for (const auto& [name, at] : places) {
            period.of_names.push_back(repeats_of(names, at, distance));
            sum.same += period.of_names.back().same;
            sum.all += period.of_names.back().all;
        }
        if (sum.kept())
            periods.push_back(std::move(period));
    }
    // A longer one is the step where kernels keep it that do not keep the shorter.
    const auto lacks = [&](const Period& shorter, const Period& longer) {
        for (std::size_t i = 0; i < places.size(); ++i)
            if (longer.of_names[i].kept() && shorter.of_names[i].broken())
                return true;
        return false;
    };
    for (auto period = periods.begin(); period != periods.end(); ++period)
        if (std::none_of(period + 1, periods.end(),
                         [&](const Period& longer) { return lacks(*period, longer); }))
            return period->kernels;
    return 0;
}

bool is_part_of_step(const std::vector<TraceNameId>& names, std::size_t period)
{
    std::size_t first = 0;
    while (names[first] != names[first + period])
        ++first;
    std::size_t last = names.size() - 1;
    while (names[last] != names[last - period])
        --last;
    const PlacesOfNames places = places_of(names);
    return std::any_of(places.begin(), places.end(), [&](const auto& of) {
        return std::all_of(of.second.begin(), of.second.end(),
                           [&](std::size_t place) { return place < first || place > last; });
    });
}

void find_steps(const RankTrace& trace, RankActivity& activity)
{
    activity.steps = annotated_steps(trace, activity.steps_again);
    if (!activity.steps.empty()) {
        activity.step_source = StepSource::annotations;
        bound_steps(activity.steps, activity.ops);
        return;
    }
    // Without times nothing tells a step from a layer that repeats.
    if (activity.times == TimesStated::timeline)
        find_repeated_steps(activity);
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
