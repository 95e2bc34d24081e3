#pragma once

// A full grid of GEMM times, with no fall, from the shapes that were measured.

#include "sim/cost/gemm_surface.h"

namespace trainyard {

struct GemmGrid {
    GemmSurface surface;
    int estimated = 0;     // points of the grid that were not measured
    double most_moved = 0; // of a measured time, to make the surface monotone, as a share
};

// The grid of all m, n and k that occur. Shapes that occur several times give the geometric mean.
// Holes take the rate of the next smaller shape along a side, the slowest of them, else of the next
// larger one. Where times fall although a side grows, the geometric mean of the largest time of the
// shapes inside and the least of those around replaces them: monotone, and without effect on times
// that do not fall.
//
// Nothing without points, or when more than half of the grid would be estimated: scattered shapes.
std::optional<GemmGrid> gemm_grid(const std::vector<GemmPoint>& measured);

} // namespace trainyard
