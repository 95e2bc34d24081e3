#pragma once

// The topology as NCCL sees it, which it writes to a file while it makes a communicator.

#include "calibrate/measure/nccl/process_variable.h"

#include <filesystem>

namespace trainyard {

// Asks for it while it lives. Where the user has set NCCL_TOPO_DUMP_FILE that file is written and
// read; else memory that has the form of a file, so that nothing is left behind.
class TopologyDump {
public:
    // `rank` of the communicator is to write: NCCL's rank 0 does otherwise.
    TopologyDump(const NcclApi& api, int rank);
    TopologyDump(const TopologyDump&) = delete;
    TopologyDump& operator=(const TopologyDump&) = delete;
    ~TopologyDump();

    // What was written since; empty: nothing, or more than 16 MiB.
    std::string text() const;

private:
    std::optional<std::filesystem::file_time_type> written() const;

    std::string file_;
    int memory_ = -1; // our own file
    std::optional<std::filesystem::file_time_type> before_;
    std::optional<ProcessVariable> where_;
    std::optional<ProcessVariable> who_;
};

} // namespace trainyard
