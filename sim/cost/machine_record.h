#pragma once

// What a machine is made of and how it is set, beside a measurement: numbers hold where it is the
// same.

#include "sim/base/field_names.h"
#include "sim/base/quantity.h"

#include <optional>
#include <string>
#include <vector>

namespace trainyard {

struct GpuRecord {
    std::string name;
    std::string uuid;
    int sm_mhz = 0; // highest; 0: not known
    int memory_mhz = 0;
    double power_limit = 0; // W; 0: not known
    int pcie_lanes = 0;     // now
    int nvlinks = 0;        // that are up
    std::optional<bool> ecc;
    std::optional<bool> mig;

    bool operator==(const GpuRecord&) const = default;
};

// Of one host.
struct MachineRecord {
    std::string architecture; // "x86_64", "aarch64"
    std::string cpu;          // model
    int cores = 0;
    int sockets = 0;
    Bytes memory;
    std::string governor; // how the kernel sets CPU clocks
    std::vector<GpuRecord> gpus;
    std::vector<std::string> ports; // "mlx5_0 400 Gb/s", those that are up

    bool operator==(const MachineRecord&) const = default;
};

template <>
const FieldTable<GpuRecord>& fields_of<GpuRecord>();
template <>
const FieldTable<MachineRecord>& fields_of<MachineRecord>();

// What differs, in words: "GPU 3: power limit 700 W there, 500 W here", "network port mlx5_1 400
// Gb/s there, not here". What only one of them knows does not differ.
std::vector<std::string> differences(const MachineRecord& there, const MachineRecord& here);

} // namespace trainyard
