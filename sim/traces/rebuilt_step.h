#pragma once

// A recorded step run again by the engine: the ops, streams, waits and collectives of the trace,
// with times of ops that may be others than those recorded there. Where it meets the recorded step,
// it may be asked what other times would make of it.

#include "sim/engine/engine.h"
#include "sim/traces/rebuilt_program.h"

namespace trainyard {

struct RebuiltRank {
    int rank = 0;
    bool known = false; // the times of ops are also its own
    Seconds recorded;   // length of a step, mean over these
    Seconds rebuilt;

    bool operator==(const RebuiltRank&) const = default;
};

struct RebuiltStep {
    std::size_t steps = 0; // that were rebuilt
    std::vector<RebuiltRank> ranks;
    // Time of the device's ops in a step by what they do, of transfers while their data move: means
    // over the ranks whose own times are not taken, or over all where there are no others.
    std::array<Seconds, device_work_count> recorded_work{};
    std::array<Seconds, device_work_count> rebuilt_work{};
    std::size_t ops = 0; // of all steps; these as in RebuiltProgram
    std::size_t unknown = 0;
    std::size_t joined = 0;
    std::size_t lone = 0;
    double slowdown = 1; // of compute beside transfers

    // Means over the same ranks.
    Seconds recorded() const;
    Seconds rebuilt() const;
    // Whether there are ranks whose own times are not taken.
    bool judged() const;
};

struct RebuildQuestion {
    std::vector<std::size_t> known; // places in JobTrace::ranks: the times of their ops are taken
    TransferChange transfer_time;
};

// Means over the first eight steps that all ranks have. Problems where ranks have no step in
// common or one that takes no time, have too many process groups, or do not run their collectives
// in one order. Throws Cancelled.
Checked<RebuiltStep> rebuild_step(const JobTrace& job, const RebuildQuestion& question,
                                  const WorkControl& work = {});

// The numbers of these steps, in order.
std::vector<int> common_steps(const JobTrace& job);

// The last of so many steps, one behind the other, with all its records.
Checked<StepResult> run_rebuilt(const RebuiltProgram& rebuilt, int steps, const WorkControl& work);

} // namespace trainyard
