#pragma once

// Grids: every combination of the values of some fields of a scenario.

#include "sim/study/scenario.h"

namespace trainyard {

struct SweepAxis {
    std::string field;               // "strategy.tp"
    std::vector<std::string> values; // as --set takes them

    bool operator==(const SweepAxis&) const = default;
};

// "strategy.tp=1,2,4,8": values between commas. Commas inside quotes, brackets or braces belong to
// the value: "strategy.stage_layers=[8,8],[7,9]". Ranges of whole numbers, both ends included:
// "1..8", "2..10+2" in steps of 2, "1..64*2" by doubling.
Checked<SweepAxis> parse_axis(std::string_view text);

struct SweepGrid {
    std::vector<SweepAxis> axes;

    std::size_t points() const; // 1 without axes
    // The changes that make point `index` of the scenario; the last axis is the fastest. Requires
    // index < points().
    std::vector<Override> point(std::size_t index) const;

    bool operator==(const SweepGrid&) const = default;
};

// More points are refused: a month on one core.
inline constexpr std::size_t most_sweep_points = 10'000'000;

// Fields given twice, more points than that, and values that the scenario's fields do not take,
// each alone: what depends on several fields is found when the point is simulated.
Problems grid_problems(const SweepGrid& grid, const ScenarioFile& base);

// The scenario of one point. Problems are those of its form.
Checked<ScenarioFile> scenario_at(const SweepGrid& grid, std::size_t index,
                                  const ScenarioFile& base);

} // namespace trainyard
