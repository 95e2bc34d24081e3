#pragma once

// What a sweep will do: the points that the chosen ranges make of a scenario.

#include "gui/explore/ranges.h"
#include "gui/model/document.h"

#include <memory>

namespace trainyard::gui {

struct SweepPlan {
    std::shared_ptr<const ScenarioFile> own; // as it was when it was planned
    // The scenario with `freed` left to the rest: what the swept fields decide.
    std::shared_ptr<const ScenarioFile> base;
    std::vector<std::string> freed;
    SweepGrid grid;
    SweepFacts facts;
    std::size_t points = 0; // that the rule of sizes allows

    std::size_t dropped() const { return grid.points() - points; }
    // What makes a scenario that point.
    std::vector<Edit> edits(std::size_t index) const;
    // "tp 4, pp 2, micro_batch 1"
    QString point_name(std::size_t index) const;
};

// What keeps it from being swept: no field chosen, too many points, a scenario of the wrong form.
Checked<SweepPlan> plan_sweep(const std::vector<AxisRange>& ranges, const SweepFacts& facts,
                              const Document& document);

// The scenario with all that a sweep decides as the grid's first point has it: the same for all of
// its points. Nothing where its form is wrong.
std::optional<Scenario> at_first_point(const Json& json, const std::string& file,
                                       const SweepGrid& grid,
                                       const std::vector<std::string>& freed);

// The last part of a field's name, as on the axes: "tp" of "strategy.tp".
QString short_name(const std::string& field);

} // namespace trainyard::gui
