#pragma once

// The processor that ranks without a GPU compute on, as Linux shows it.

#include "sim/base/quantity.h"

#include <filesystem>
#include <string>
#include <vector>

namespace trainyard {

struct CpuFacts {
    std::string model;        // "AMD EPYC 9654 96-Core Processor"; empty: unknown
    int cores = 1;            // logical ones that ranks of this host may run on
    int own_cores = 1;        // of them, those that this process is bound to
    int packages = 1;         // sockets
    double cores_granted = 0; // of the control group's quota; 0: no limit
    Bytes last_cache;         // of one core's last level; 0: unknown
    Bytes memory;             // that this process may use: the host's, or its control group's limit
    std::string governor;     // of the frequency; empty: unknown
    bool virtual_machine = false;

    bool operator==(const CpuFacts&) const = default;
};

// Of this process. Files are read below `root`; what is missing or unreadable stays unknown.
CpuFacts read_cpu_facts(const std::filesystem::path& root = "/");

// What this process may still allocate.
Bytes free_memory(const std::filesystem::path& root = "/");

// What makes times taken by `local_ranks` ranks of this host doubtful, for people.
std::vector<std::string> doubts(const CpuFacts& facts, int local_ranks);

} // namespace trainyard
