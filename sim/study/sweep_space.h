#pragma once

// What there is to sweep: the sizes that decide which values are worth trying, and which points of
// a grid cannot be for their sizes alone.

#include "sim/study/sweep_grid.h"

#include <optional>

namespace trainyard {

// Of a scenario's model and cluster; they do not depend on its strategy.
struct SweepFacts {
    int devices = 0;
    int devices_per_node = 0;
    int layers = 0; // of a transformer, as heads and experts; 0: it has none
    int heads = 0;
    int experts = 0;
    int leading_dense_layers = 0; // before the first with experts
    std::int64_t sequence_length = 0;
    std::int64_t global_batch = 0;

    bool operator==(const SweepFacts&) const = default;
};

// Reads the model and the cluster. What is wrong with them, or with the form of the scenario.
Checked<SweepFacts> sweep_facts(const ScenarioFile& file);

// Whether a scenario's number of devices may hang on the field: those of its topology and domains.
bool decides_devices(std::string_view field);

// The rule that needs no simulation: tp x cp x pp x dp fits the devices (all of them where dp is
// left to the rest), and micro_batch x dp divides the global batch. What it drops, a simulation
// would refuse.
class SizeRule {
public:
    // `devices`: of the base. Where fields of the grid decide how many there are, the clusters of
    // all their values are read; of more than `most_clusters`, or one that cannot be, nothing is
    // known, and points of it are left to the simulation. Requires grid_problems(grid, base) to be
    // empty.
    SizeRule(const SweepGrid& grid, const ScenarioFile& base, int devices);
    static constexpr std::size_t most_clusters = 1024;

    bool allows(std::size_t index) const;
    // How many points it allows. Looks at each combination of the sizes once, whatever else varies.
    std::size_t count() const;
    // Those points in an order that mixes the grid, so that the first of them stand for all; the
    // same for the same grid.
    std::vector<std::size_t> points() const;

private:
    // tp, cp, pp, dp, micro_batch, global_batch: the axis that sets it, else the scenario's own.
    struct Size {
        std::optional<std::size_t> axis;
        std::vector<std::int64_t> values; // by value of the axis, else one; 0: left to the rest
        std::size_t stride = 1;           // of the axis in the grid
    };
    std::int64_t value_of(std::size_t size, std::size_t index) const;
    std::int64_t devices_at(std::size_t index) const; // 0: not known
    void count_devices(const SweepGrid& grid, const ScenarioFile& base);

    std::vector<Size> sizes_;
    std::vector<std::size_t> counts_; // values by axis
    std::vector<std::size_t> strides_;
    std::vector<std::size_t> device_axes_; // those that decide how many devices there are
    std::vector<std::int64_t> devices_;    // by their values, the last axis fastest; else one
};

} // namespace trainyard
