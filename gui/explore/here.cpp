#include "gui/explore/here.h"

#include "gui/explore/ranges.h"
#include "gui/model/choices.h"

#include <algorithm>
#include <cmath>

namespace trainyard::gui {

namespace {

// "8" and "8.0", "25 MiB" and "26214400" are the same.
std::optional<std::size_t> value_among(const std::vector<std::string>& values,
                                       const std::string& value)
{
    auto at = std::ranges::find(values, value);
    if (const std::optional<double> number = number_in(value); at == values.end() && number)
        at = std::ranges::find_if(values, [&](const auto& one) {
            const std::optional<double> other = number_in(one);
            return other && *other == *number;
        });
    return at == values.end() ? std::nullopt
                              : std::optional(static_cast<std::size_t>(at - values.begin()));
}

// 2.5: half the way from the third value to the fourth; half a place beyond the ends.
double place_between(const std::vector<std::string>& values, const std::string& value)
{
    if (const auto at = value_among(values, value))
        return static_cast<double>(*at);
    const std::optional<double> number = number_in(value);
    if (!number)
        return no_number;
    std::optional<std::pair<double, std::size_t>> below; // the largest that is less
    std::optional<std::pair<double, std::size_t>> above;
    for (std::size_t i = 0; i < values.size(); ++i) {
        const std::optional<double> other = number_in(values[i]);
        if (!other)
            continue;
        if (*other < *number && (!below || *other > below->first))
            below = {*other, i};
        if (*other > *number && (!above || *other < above->first))
            above = {*other, i};
    }
    constexpr double beyond = 0.5;
    if (below && above) {
        const double share = (*number - below->first) / (above->first - below->first);
        return std::lerp(static_cast<double>(below->second), static_cast<double>(above->second),
                         share);
    }
    if (below)
        return static_cast<double>(below->second) + beyond;
    return above ? static_cast<double>(above->second) - beyond : no_number;
}

// 1f1b interleaves where there are virtual stages.
std::string schedule_run(const Strategy& strategy)
{
    return strategy.schedule == "1f1b" && strategy.vpp > 1 ? "interleaved-1f1b" : strategy.schedule;
}

// What the point has where the scenario says more than the sweep's base does.
bool follows_as_well(const SweepPlan& plan, const Document& document, const std::string& field,
                     std::size_t index)
{
    const Json* const given = document.find(field);
    if (given == nullptr || given->is_null())
        return true;
    const auto at = at_first_point(document.json(), document.file(), {}, {});
    const auto settled = scenario_at(plan.grid, index, *plan.base);
    if (!at || !settled)
        return false;
    const Strategy& ours = at->strategy;
    const Strategy& theirs = settled->scenario.strategy;
    if (field != "strategy.dp")
        return schedule_run(ours) == schedule_run(theirs) &&
               ours.stage_layers == theirs.stage_layers;
    const Checked<SweepFacts> facts = sweep_facts(*settled);
    return facts &&
           std::int64_t{theirs.tp} * theirs.cp * theirs.pp * ours.dp.value_or(1) == facts->devices;
}

} // namespace

std::optional<std::size_t> index_of(const SweepPlan& plan, const Document& document,
                                    const ClusterDraft* cluster)
{
    std::size_t index = 0;
    for (const SweepAxis& axis : plan.grid.axes) {
        const auto at = value_among(axis.values, own_value(document, axis.field, cluster));
        if (!at)
            return {};
        index = index * axis.values.size() + *at;
    }
    const bool same = std::ranges::all_of(plan.freed, [&](const std::string& field) {
        return follows_as_well(plan, document, field, index);
    });
    return same ? std::optional(index) : std::nullopt;
}

Guest guest_of(const SweepPlan& plan, const Document& document, const ClusterDraft* cluster,
               const RunView* run)
{
    Guest out;
    for (const SweepAxis& axis : plan.grid.axes) {
        out.names.push_back(own_value(document, axis.field, cluster));
        out.places.push_back(place_between(axis.values, out.names.back()));
    }
    out.figures.assign(kept_figures().size(), no_number);
    if (run == nullptr)
        return out;
    if (run->outcome == nullptr) {
        out.reason = run->problems.empty() ? "cannot be" : run->problems.front().message;
        return out;
    }
    PointRow row;
    static_cast<StepFigures&>(row) = run->summary;
    out.figures = found_point(row).figures;
    for (const Diagnostic& problem : run->problems)
        if (problem.severity == Severity::error)
            out.reason = problem.message;
    return out;
}

} // namespace trainyard::gui
