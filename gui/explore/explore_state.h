#pragma once

// What a session keeps of the explorer: what is swept, the axes of the scatter, the
// pins, the file of the points.

#include "gui/explore/compare_panel.h"
#include "gui/explore/parallel_model.h"
#include "gui/explore/ranges.h"
#include "gui/explore/scatter_panel.h"

namespace trainyard::gui {

struct ExploreState {
    std::vector<SweptField> swept;
    ScatterChoice axes;
    ParallelChoice parallel;
    QString explained;     // figure; empty: what is best by
    QString picture;       // key of the part in front
    std::vector<Pin> pins; // without their places in a grid
    std::string file;      // that has the points; empty: none

    bool operator==(const ExploreState&) const = default;
};

Json to_json(const ExploreState& state);
// What is not known is left out: a session opens with what it has.
ExploreState explore_state_from(const Json& json);

} // namespace trainyard::gui
