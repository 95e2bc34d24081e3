#pragma once

// Values of a sweep that follow from others: sizes written "auto", what the scenario fixed for the
// sizes that are now swept, and the batch nearest to the one asked for.

#include "sim/study/sweep_space.h"

#include <map>
#include <mutex>
#include <span>
#include <string_view>

namespace trainyard {

// The field that layouts must divide.
inline constexpr std::string_view batch_field = "training.global_batch";

// Fields of the scenario that hold for its own sizes only, and what lets them follow the swept
// ones:
//
//   strategy.dp            over the devices that the other sizes leave, when tp, cp, pp or the
//                          number of devices is swept and none of these is "auto"
//   strategy.schedule      1f1b, which interleaves where vpp asks for it, when pp or vpp is swept
//   strategy.stage_layers  likewise: as even as the layers allow (LayerRule::spread)
//
// A field that is an axis itself is left alone. Empty where nothing has to follow.
struct FollowingField {
    Override freed;  // for the base of the sweep
    std::string own; // the scenario's value, as --set takes it

    bool operator==(const FollowingField&) const = default;
};
std::vector<FollowingField> following_fields(const SweepGrid& grid, const Scenario& scenario);

// The base of the sweep with these fields left to follow, by which `grid` decides them too.
Checked<ScenarioFile> let_follow(const ScenarioFile& base, std::span<const FollowingField> fields,
                                 SweepGrid& grid);

// The batch that a point was asked to take, and the one it takes (sequences per step).
struct MovedBatch {
    std::int64_t asked = 0;
    std::int64_t taken = 0;

    bool operator==(const MovedBatch&) const = default;
};

// The multiple of `pass` sequences nearest to `batch`, at least one; of two the larger. Requires
// both to be at least 1.
std::int64_t nearest_batch(std::int64_t batch, std::int64_t pass);

// A point with every value decided.
struct SettledPoint {
    ScenarioFile file;
    std::vector<Override> changes; // by axis
    std::vector<Override> beside;  // what follows and is no axis: uneven stages, a moved batch
    std::optional<MovedBatch> moved;
};

// Decides the points of a grid over a scenario. For several threads.
class PointSettler {
public:
    // Both are kept by reference. Requires grid_problems(grid, base) to be empty.
    PointSettler(const ScenarioFile& base, const SweepGrid& grid) : base_(base), grid_(grid) {}

    // Problems are those of the scenario's form, of its model and cluster where sizes follow from
    // them, and sizes that leave no whole number to the one that follows.
    Checked<SettledPoint> at(std::size_t index);

private:
    Checked<SweepFacts> facts(const ScenarioFile& file);

    const ScenarioFile& base_;
    const SweepGrid& grid_;
    std::mutex mutex_;
    std::map<std::string, Checked<SweepFacts>> facts_; // by the text of model and cluster
};

// The scenario of one point. Problems as of PointSettler::at.
Checked<ScenarioFile> scenario_at(const SweepGrid& grid, std::size_t index,
                                  const ScenarioFile& base);

} // namespace trainyard
