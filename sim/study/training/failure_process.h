#pragma once

// What the closed form and the simulation of trainings have in common: work in equal segments, a
// checkpoint after each, and what interrupts them.
//
// The rules of both:
// * Work runs on the clock of the job. A failure takes it back to the last checkpoint that is
//   written; one that is still being written behind the steps is lost. It strikes at any time of
//   work, of checkpoints and of restarts, but not while the job hangs or waits.
// * After a failure: detection, then a wait where a node must be replaced and no spare is ready,
//   then a restart, which begins again when a failure hits it.
// * A warned interruption (spot capacity with notice) first saves, so that no work is lost. That
//   checkpoint serves the restart it was made for: a later failure goes back to the regular one.
// * Spare nodes and those in repair are one pool; repair times are exponential.

#include "sim/study/training/checkpoint_cost.h"

#include <array>

namespace trainyard {

// Where wall time goes. Work that is lost has its steps, evaluation and checkpoints in it.
enum class WallTime : std::uint8_t {
    steps,
    stragglers,
    evaluation,
    checkpoints,
    lost_work,
    detection,
    repair,
    restart
};
inline constexpr std::size_t wall_time_kinds = 8;

template <>
std::vector<EnumName<WallTime>> enum_names<WallTime>();

// Wall time by cause; adds up to all of it.
struct WallAccount {
    std::array<Seconds, wall_time_kinds> by_cause{};

    Seconds& operator[](WallTime cause) { return by_cause[static_cast<std::size_t>(cause)]; }
    Seconds operator[](WallTime cause) const { return by_cause[static_cast<std::size_t>(cause)]; }
    Seconds total() const;
    // The share of steps.
    double goodput() const { return (*this)[WallTime::steps] / total(); }

    bool operator==(const WallAccount&) const = default;
};

struct FailureProcess {
    // Work without interruption.
    Seconds steps;
    Seconds stragglers;
    Seconds evaluation;
    std::int64_t segments = 1; // equal ones
    CheckpointCost checkpoint;

    // Per second of running.
    double hardware_rate = 0; // failures
    double sudden_rate = 0;   // of spot capacity, without a notice long enough to save
    double warned_rate = 0;   // of spot capacity, with one

    double replaced = 0; // share of the hardware's
    Seconds detection;
    Seconds restart;
    Seconds repair;
    Seconds spot_return;
    int spare_nodes = 0;

    bool waits_for_nodes() const
    {
        return hardware_rate > 0 && replaced > 0 && repair > Seconds(0);
    }
    Seconds work() const { return steps + stragglers + evaluation; }
    double losing_rate() const { return hardware_rate + sudden_rate; }
    double rate() const { return losing_rate() + warned_rate; }
    // From one checkpoint to the next, and what a restart has to run longer until it can be
    // restarted from the next.
    Seconds segment() const { return work() / static_cast<double>(segments) + checkpoint.block; }
    Seconds written_behind() const { return checkpoint.write - checkpoint.block; }
};

// Of everything but `segments`, which `with_interval` sets. Spare nodes are those that are given.
// Requires a request without problems.
FailureProcess failure_process(const WholeTrainingRequest& request);

// The same with checkpoints so often, at most.
FailureProcess with_interval(FailureProcess process, Seconds interval);

// Share of failures that find no spare ready: of n spares and one in use, the chance that all n are
// in repair (Erlang 1917, B(n, load); for any distribution of repair times).
double no_spare_share(double load, int spares);

// The steps of it, smaller batches included, and the time they take.
struct StepCount {
    double steps = 0;
    Seconds time;
};
StepCount count_steps(const WholeTrainingRequest& request);

} // namespace trainyard
