#pragma once

// The node this runs on as a topology file, from everything that can tell of it.

#include "calibrate/measure/discover/nvml.h"
#include "calibrate/measure/discover/pair_classes.h"
#include "calibrate/measure/discover/sysfs.h"

namespace trainyard {

struct NodeSources {
    HostFacts host;
    std::optional<NvmlNode> nvml;
    std::string smi_matrix; // text of `nvidia-smi topo -m`; empty: none
    std::string nccl_dump;  // XML of NCCL_TOPO_DUMP_FILE; empty: none
    std::string model;      // of the GPUs, key of the device constants; empty: found out
    int cpu_ranks = 0;      // without GPUs: devices to make of the processors; 0: one per socket
};

struct DiscoveredNode {
    NodeMap map;
    ExplicitDescription description;
    Json topology;                     // the topology file
    Words classes;                     // between its devices
    std::vector<std::string> believed; // where sources contradict: which counts, and why
    ImportNotes notes;
};

// The tree is that of the source that knows most GPUs; of equals NCCL's dump (what jobs will use),
// then /sys with NVML, then the matrix. NVLinks are NVML's where it could be asked, PCIe rates
// those of /sys where the links are slower now than a dump says. Sources that cannot be read are
// problems; without any GPU the processors are the devices.
Checked<DiscoveredNode> discover_node(const NodeSources& sources);

} // namespace trainyard
