#pragma once

// T(S) as the minimum of at most three alpha-beta lines: short enough to read, and to give to
// tools that know nothing else. Half as accurate as the knots; prediction uses those.

#include "calibrate/fit/clean_sweep.h"
#include "sim/cost/knots.h"

#include <span>

namespace trainyard {

inline constexpr std::size_t most_lines = 3;

// One line alpha + S / rate with the least sum of squared relative errors, alpha >= 0 and
// 1 / rate >= 0. Requires a point.
AlphaBetaLine fit_line(std::span<const TimedSize> points);

// The best division of the sizes into at most `lines` runs with a line each (dynamic programming),
// then points and lines assigned to each other until nothing improves. Lines that are nowhere the
// lowest are dropped; the others come by growing alpha. Empty without points.
std::vector<AlphaBetaLine> fit_lines(std::span<const TimedSize> points,
                                     std::size_t lines = most_lines);

// The lowest of the lines. Requires a line.
Seconds time_at(std::span<const AlphaBetaLine> lines, Bytes size);

// Where the lowest line changes: sizes between neighbouring lines of `fit_lines`.
std::vector<Bytes> switch_points(std::span<const AlphaBetaLine> lines);

} // namespace trainyard
