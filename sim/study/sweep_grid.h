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

// A size that follows from the others, as a value of an axis.
inline constexpr std::string_view auto_size = "auto";

// strategy.tp, cp, pp and dp: what the other three leave of the devices, at most one of them at a
// time. strategy.ep: the most ranks that the experts spread over evenly. strategy.stage_layers:
// even stages, or uneven ones where pp x vpp does not divide the layers.
bool may_be_auto(std::string_view field);

// What becomes of a global batch that micro_batch x dp does not divide.
enum class BatchRule : std::uint8_t {
    as_asked, // the point is refused
    nearest   // the nearest batch that it divides
};

// How the layers go over the stages of a pipeline that does not divide them.
enum class LayerRule : std::uint8_t {
    as_given, // as the scenario says; where it says nothing the point is refused
    spread    // one more in some of them
};

struct SweepGrid {
    std::vector<SweepAxis> axes;
    BatchRule batch = BatchRule::as_asked;
    LayerRule layers = LayerRule::as_given;
    std::vector<int> own_layers = {}; // of the scenario's stages: spread leaves as many stages so

    std::size_t points() const; // 1 without axes
    // The values at point `index`, by axis, as the axes have them; the last axis is the fastest.
    // Requires index < points().
    std::vector<Override> point(std::size_t index) const;

    bool operator==(const SweepGrid&) const = default;
};

// More points are refused: a month on one core.
inline constexpr std::size_t most_sweep_points = 10'000'000;

// Fields given twice, more points than that, values that the scenario's fields do not take, each
// alone, and sizes that are to follow from one another: what depends on several fields is found
// when the point is simulated.
Problems grid_problems(const SweepGrid& grid, const ScenarioFile& base);

} // namespace trainyard
