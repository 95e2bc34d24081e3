#pragma once

// The record of a machine and its software beside a measurement, and what has changed since: the
// numbers hold where it is the same.

#include "calibrate/measure/discover/launch.h"
#include "calibrate/measure/discover/nvml.h"
#include "calibrate/measure/discover/sysfs.h"
#include "sim/cost/fingerprint.h"

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

struct Fingerprint {
    Environment environment;
    std::string kernel;
    std::string architecture;
    std::string cpu;
    int cores = 0;
    int sockets = 0;
    Bytes memory;
    std::string governor;
    LaunchStyle launch = LaunchStyle::none;
    std::vector<GpuRecord> gpus;
    std::vector<std::string> ports; // "mlx5_0 400 Gb/s", those that are up

    bool operator==(const Fingerprint&) const = default;
};

template <>
const FieldTable<GpuRecord>& fields_of<GpuRecord>();
template <>
const FieldTable<Fingerprint>& fields_of<Fingerprint>();

// `software`: date, NCCL and CUDA of the run, framework; driver, host and variables are filled in,
// CUDA where it is empty. Of `variables` only those that change paths are kept.
Fingerprint fingerprint_of(const HostFacts& host, const NvmlNode* nvml, const Variables& variables,
                           Environment software);

// What differs, in words: "driver 550.54 there, 560.35 here", "GPU 3: power limit 700 W there, 500
// W here". What only one of them knows does not differ. Empty: numbers measured there hold here.
std::vector<std::string> differences(const Fingerprint& there, const Fingerprint& here);

} // namespace trainyard
