#pragma once

// How ranks came to be: what the launcher's variables say.

#include "calibrate/measure/backend/backend.h"
#include "calibrate/measure/control/worker.h"
#include "sim/base/diagnostic.h"

#include <functional>

namespace trainyard {

// A variable's value; nothing when it is not set.
using EnvironmentVariables = std::function<std::optional<std::string>(const std::string&)>;
EnvironmentVariables process_environment();

struct Launch {
    std::string style; // "torchrun", "Open MPI", "Slurm", "PMI"
    LaunchPlace place;
    CoordinatorAddress coordinator;

    bool operator==(const Launch&) const = default;
};

// Of a process that a launcher started as one of several ranks; nothing for one that was started
// by hand (or as the only rank of a job without MASTER_ADDR).
//
// In this order: torchrun (RANK, WORLD_SIZE, LOCAL_RANK, LOCAL_WORLD_SIZE, MASTER_ADDR,
// MASTER_PORT), Open MPI (OMPI_COMM_WORLD_*), Slurm (SLURM_PROCID, SLURM_NTASKS, SLURM_LOCALID; the
// first host of SLURM_STEP_NODELIST), PMI (PMI_RANK, PMI_SIZE, MPI_LOCALRANKID). Where all ranks
// are of one host the coordinator is on it; where they are not and nothing says where rank 0 is,
// MASTER_ADDR must. The port is MASTER_PORT + 1 (torchrun has the other), or follows from the job's
// number.
Checked<std::optional<Launch>> launch_of(const EnvironmentVariables& variable);

// "gb[001-003,7],x2" -> "gb001". Empty for an empty list.
std::string first_host(const std::string& slurm_list);

} // namespace trainyard
