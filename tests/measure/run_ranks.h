#pragma once

// Starts the ranks of a check and waits for them.

#include <string>
#include <vector>

namespace trainyard::testing {

struct RanksOutcome {
    bool succeeded = false; // every process ended with 0, in time
    std::string output;     // of all of them
};

// A process per rank. Those that take longer than 60 s are ended.
RanksOutcome run_ranks(const std::string& module, const std::string& checks, int ranks);

// The same under mpirun.
RanksOutcome run_mpi_ranks(const std::string& mpirun, const std::string& module,
                           const std::string& checks, int ranks);

} // namespace trainyard::testing
