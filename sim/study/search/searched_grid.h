#pragma once

// A sweep's axes that are left to the search: "strategy.pp=auto" takes the values that the search
// has for it, and only in combinations that can be a layout.

#include "sim/study/search/possible_layouts.h"
#include "sim/study/sweep_grid.h"

namespace trainyard {

// Whether "auto" is the only value of an axis whose field the search knows.
bool is_left_to_search(const SweepAxis& axis);

// Requires is_left_to_search of none of what stays.
SweepGrid without_searched_axes(SweepGrid grid);

struct SearchedGrid {
    SweepGrid grid; // every value given; layers go over stages as evenly as they can
    std::vector<std::size_t> points; // of it, in its order: sizes go together, memory may suffice
    std::uint64_t combinations = 0;  // of the values that the search would look at
};

// Other axes keep their values; those that are no layout's (precision, number of nodes, ...) have a
// space for each of their combinations. A batch that is left to the search is the scenario's own,
// or the nearest that the layout divides
// (as with BatchRule::nearest) within a factor of two. Where dp is no axis it
// follows.
//
// `headroom`: share of a device's memory that stays free. Problems: those of the scenario with the
// grid's values, values that the search does not take, and that no layout is left. Requires
// grid_problems(without_searched_axes(grid), base) to be empty. Throws Cancelled.
Checked<SearchedGrid> searched_grid(const SweepGrid& grid, const ScenarioFile& base,
                                    double headroom, const WorkControl& work);

} // namespace trainyard
