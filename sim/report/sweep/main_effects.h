#pragma once

// How much of a figure's variance over the points of a grid each field explains by itself.

#include "sim/study/sweep_grid.h"

#include <span>
#include <vector>

namespace trainyard {

struct MainEffect {
    // The share of the variance that lies between the means of the field's values, from 0 to 1: the
    // correlation ratio eta squared.
    double share = 0;
    // By value of the axis: the mean of its points, NaN without any, and how many there are.
    std::vector<double> means;
    std::vector<std::size_t> counts;
};

struct MainEffects {
    std::size_t points = 0; // whose figure is known
    double mean = 0;
    double deviation = 0;            // of all points, not of a sample
    std::vector<MainEffect> effects; // by axis
    // The share that a sum of one term per field explains, fitted by least squares; the rest comes
    // of fields together. Where every combination is there, it is the sum of the shares; else
    // fields go together in the points there are, and shares overlap.
    double added = 0;
    bool whole = false; // every combination of the grid's values is there
    // With so few points values would seem to explain much by chance: less than `least_per_value`
    // for each value that an axis has beyond its first.
    bool few = false;
};

inline constexpr std::size_t least_per_value = 4;

// Main effects of a functional analysis of variance (Fisher, Statistical Methods for Research
// Workers, 1925, on the correlation ratio; Hoeffding, A class of statistics with asymptotically
// normal distribution, 1948; Sobol, Sensitivity estimates for nonlinear mathematical models, 1993,
// whose first-order index it is on a full grid):
//
//   share_i = Var(E[y | field i]) / Var(y)
//
// exact on a full grid, where points weigh alike. `indices`: of the points in the grid, `values`:
// their figures, NaN where unknown. Requires both to be as long. O(points x axes), a few times.
MainEffects main_effects(const SweepGrid& grid, std::span<const std::size_t> indices,
                         std::span<const double> values);

} // namespace trainyard
