#pragma once

// Threads as ranks of the simulated machine, each with a back end of its own.

#include "tests/support/simulated_nccl/world.h"

namespace trainyard::simulated {

// What a rank's thread ended with.
struct RankEnd {
    std::optional<MeasureFailure> failure;
    double seconds = 0; // of the real clock
};

using RankBody = std::function<void(int rank, RankBackend& backend, Rendezvous& rendezvous)>;

// Limits short enough for tests of what hangs.
NcclLimits short_limits();

// Runs `body` on each rank of `world`, a new group's rendezvous among them. Calls that hung come
// back afterwards.
std::vector<RankEnd> run_ranks(const std::shared_ptr<World>& world, int ranks, const RankBody& body,
                               const NcclLimits& limits = {});

// The group of ranks 0 to ranks - 1.
GroupSpec all_of(int ranks);

} // namespace trainyard::simulated
