#pragma once

// Ranks started on this host by the coordinator itself.

#include "calibrate/measure/control/worker.h"

#include <memory>

namespace trainyard {

enum class RankStart : std::uint8_t {
    each,    // a process for each rank
    mpirun,  // one mpirun that starts them all
    launched // one process, which has its place from the launcher that started this one
};

// What to start. A rank's coordinator, and with `each` its place, follow as variables, which
// `address_given` and `place_given` read.
struct RankProgram {
    std::string program;
    std::vector<std::string> arguments;
    int ranks = 1;
    RankStart start = RankStart::each;
};

// A resource: the processes. They end with it, at the latest.
class LocalRanks {
public:
    // Throws WorldError when a process cannot be started, MeasureFailure without mpirun.
    LocalRanks(const RankProgram& program, const CoordinatorAddress& address);
    ~LocalRanks();
    LocalRanks(const LocalRanks&) = delete;
    LocalRanks& operator=(const LocalRanks&) = delete;

    // How that rank ended, with the last line it said: "was killed by signal 9 (Killed)"; empty
    // while it runs, and for ranks that others started. Of ranks under mpirun what mpirun says of
    // them.
    std::string fate_of(int rank);

    // How the first process ended that did, whichever; empty while all run.
    std::string first_end();

private:
    struct Child;
    std::vector<std::unique_ptr<Child>> children_;
};

// For a process that LocalRanks started; nothing for others. Under mpirun the place is mpirun's.
std::optional<CoordinatorAddress> address_given();
std::optional<LaunchPlace> place_given();

} // namespace trainyard
