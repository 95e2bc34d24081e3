#pragma once

// Everything that can be read of the machine this runs on.

#include "calibrate/measure/discover/node.h"

namespace trainyard {

struct LookSettings {
    bool gpus = true;             // else its processors are the devices
    int cpu_ranks = 0;            // of processors: how many devices they are
    bool while_measuring = false; // then processes on the GPUs are the measurement's own
    std::filesystem::path root = "/";
    std::vector<std::string> nvml_files = usual_nvml_files();
    std::chrono::milliseconds smi_limit{10'000};
};

struct NodeLook {
    NodeSources sources;
    std::vector<std::string> doubts; // what makes numbers of this node doubtful
    std::string no_nvml;             // why NVML told nothing, where it was asked
};

// NVML, or where it cannot be opened `nvidia-smi topo -m`, and /sys. Bounded in time as far as the
// driver lets NVML come back.
NodeLook look_at_node(const LookSettings& settings = {});

} // namespace trainyard
