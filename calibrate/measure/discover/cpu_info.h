#pragma once

// What Linux says of processors and of memory, read once for all who ask: /proc/cpuinfo, files like
// /proc/meminfo, limits of control groups.

#include "calibrate/measure/discover/sys_tree.h"
#include "calibrate/measure/discover/sysfs.h"

#include <map>

namespace trainyard {

struct CpuInfo {
    std::map<std::string, std::string> first; // value of each key where it first stands
    std::map<int, CpuSocket> sockets;         // by "physical id"
    int processors = 0;

    // Empty: no such key.
    std::string value_of(const std::string& key) const;
};

CpuInfo parse_cpuinfo(const std::string& cpuinfo);

// The maker and its name for the model: "Arm", "Neoverse V2". Arm's processors tell only numbers.
struct ArmModel {
    std::string_view maker;
    std::string_view name;
};

// Nothing: not one of those that are known.
std::optional<ArmModel> arm_model(const CpuInfo& info);

// Of a line "MemTotal: 1000 kB"; 0: there is none.
Bytes kilobytes_after(const std::string& meminfo, const char* label);

// Of the control group at whose root this process is, as in a container: version 2, or 1.
struct ControlGroup {
    double cpus = 0; // of its quota; 0: no limit
    std::optional<Bytes> memory;
    std::optional<Bytes> memory_used; // where there is a limit
};

ControlGroup control_group(const SysTree& tree);

} // namespace trainyard
