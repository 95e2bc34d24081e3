#pragma once

// Processors and memory of a machine, for read_host.

#include "calibrate/measure/discover/sys_tree.h"
#include "calibrate/measure/discover/sysfs.h"

namespace trainyard {

void read_cpus(const SysTree& tree, HostFacts& host);

// "AMD EPYC 7763 64-Core Processor", "Neoverse V2": without trade marks, clock and idle words.
std::string cpu_name(const std::string& cpuinfo);

} // namespace trainyard
