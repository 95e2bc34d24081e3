#pragma once

// The circumstances of a measurement: what has to be the same for its numbers to hold.

#include "sim/cost/machine_record.h"

#include <map>
#include <string>
#include <vector>

namespace trainyard {

// Where constants were measured; compared with a job's on use.
struct Environment {
    std::string date;
    std::string host;
    std::string driver;
    std::string cuda;
    std::string nccl;
    std::string framework;
    std::map<std::string, std::string> libraries; // versions of others: "Open MPI" -> "4.1.4"
    std::map<std::string, std::string>
        variables;                        // NCCL_*, UCX_*, FI_*, CUDA_DEVICE_MAX_CONNECTIONS
    std::string kernel;                   // release of Linux
    std::string launch;                   // what started the ranks
    std::optional<MachineRecord> machine; // of the first host

    bool operator==(const Environment&) const = default;
};

template <>
const FieldTable<Environment>& fields_of<Environment>();

// Each circumstance that both state and in which they differ, as "NCCL 2.27.3 there, 2.28.9 here".
// Versions differ when their first two numbers do; dates and hosts do not count. Of the machine
// itself `differences` of MachineRecord tells.
std::vector<std::string> differences(const Environment& measured, const Environment& used);

} // namespace trainyard
