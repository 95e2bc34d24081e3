#pragma once

// Where the coordinator of a launched job is.

#include "calibrate/measure/control/worker.h"
#include "calibrate/measure/discover/launch.h"
#include "sim/base/diagnostic.h"

namespace trainyard {

struct JobLaunch {
    RankLaunch launch;
    CoordinatorAddress coordinator;
    bool port_is_given = false; // by MASTER_PORT

    bool operator==(const JobLaunch&) const = default;
};

// Of a process that a launcher started as one of several ranks; nothing for one that was started
// by hand, or as the only rank of a job without MASTER_ADDR.
//
// Where all ranks are of one host the coordinator is on it; else MASTER_ADDR says where rank 0 is,
// or it is on the first host of Slurm's list. The port is MASTER_PORT + 1 (torchrun has the other),
// or follows from the job's number.
Checked<std::optional<JobLaunch>> job_launch(const Variables& variables);

// "gb[001-003,7],x2" -> "gb001". Empty for an empty list.
std::string first_host(const std::string& slurm_list);

} // namespace trainyard
