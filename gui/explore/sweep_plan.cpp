#include "gui/explore/sweep_plan.h"

#include "sim/study/inputs.h"
#include "sim/study/sweep_follow.h"

#include <fmt/core.h>

#include <QCoreApplication>
#include <algorithm>

namespace trainyard::gui {

namespace {

Problems sweep_problem(std::string message, std::string hint)
{
    return {{"", 0, "", std::move(message), std::move(hint), Severity::error}};
}

} // namespace

QString short_name(const std::string& field)
{
    return QString::fromStdString(field.substr(field.rfind('.') + 1));
}

std::vector<Edit> SweepPlan::edits(std::size_t index) const
{
    std::vector<Edit> out;
    for (const std::string& field : freed)
        out.push_back({field, std::nullopt});
    const Checked<SettledPoint> point = PointSettler(*base, grid).at(index);
    std::vector<Override> changes = point ? point->changes : grid.point(index);
    if (point)
        changes.insert(changes.end(), point->beside.begin(), point->beside.end());
    for (const Override& change : changes)
        out.push_back(
            {change.field, change.value == "null" ? std::nullopt : std::optional(change.value)});
    return out;
}

QString SweepPlan::point_name(std::size_t index) const
{
    QStringList parts;
    for (const Override& change : grid.point(index))
        parts << QStringLiteral("%1 %2").arg(short_name(change.field), value_text(change.value));
    return parts.join(QStringLiteral(", "));
}

Checked<SweepPlan> plan_sweep(const std::vector<AxisRange>& ranges, const SweepFacts& facts,
                              const Document& document)
{
    SweepPlan plan;
    plan.facts = facts;
    for (const AxisRange& range : ranges)
        if (range.swept) {
            plan.grid.axes.push_back({range.field, range.chosen_values()});
            if (plan.grid.axes.back().values.empty())
                return tl::unexpected(
                    sweep_problem(fmt::format("no value of {} is chosen", range.field),
                                  "choose one, or take the field out of the sweep"));
        }
    if (plan.grid.axes.empty())
        return tl::unexpected(sweep_problem("nothing is swept", "tick a field, or take a preset"));
    const Checked<ScenarioFile> read = document.read();
    if (!read)
        return tl::unexpected(read.error());
    const std::vector<FollowingField> following = following_fields(plan.grid, read->scenario);
    for (const FollowingField& field : following)
        plan.freed.push_back(field.freed.field);
    Checked<ScenarioFile> base = let_follow(*read, following, plan.grid);
    if (!base)
        return tl::unexpected(base.error());
    if (plan.grid.points() > most_sweep_points)
        return tl::unexpected(sweep_problem("there are far too many combinations",
                                            "take fewer fields, or fewer values"));
    plan.points = SizeRule(plan.grid, *base, facts.devices).count();
    if (plan.points > most_points)
        return tl::unexpected(sweep_problem(fmt::format("{} points are too many", plan.points),
                                            "take fewer fields, or fewer values"));
    plan.own = std::make_shared<const ScenarioFile>(*read);
    plan.base = std::make_shared<const ScenarioFile>(std::move(*base));
    return plan;
}

std::optional<Scenario> at_first_point(const Json& json, const std::string& file,
                                       const SweepGrid& grid, const std::vector<std::string>& freed)
{
    std::vector<Override> changes;
    for (const std::string& field : freed)
        changes.push_back({field, "null"});
    for (Override& change : grid.point(0))
        changes.push_back({std::move(change.field),
                           change.value == auto_size ? std::string("null") : change.value});
    Checked<ScenarioFile> read = scenario_from(json, file, changes);
    return read ? std::optional(std::move(read->scenario)) : std::nullopt;
}

} // namespace trainyard::gui
