#pragma once

// A machine without GPUs as a cluster of one node: its processors are the devices.

#include "calibrate/import/node_map.h"
#include "calibrate/measure/discover/sysfs.h"

namespace trainyard {

// How topologies and profiles name a CPU socket as a device: "CPU AMD EPYC 7763 64-Core".
std::string cpu_device(const HostFacts& host);

// `ranks` devices spread over the sockets in blocks, each a share of its socket: ranks of one
// socket meet in its memory. 0: one per socket. Its NIC is the fastest port that is up.
NodeMap map_of_cpus(const HostFacts& host, int ranks, ImportNotes& notes);

} // namespace trainyard
