#pragma once

// What NVIDIA's management library (NVML) says of the GPUs of this machine. It is opened at run
// time and only read: nothing on the machine is changed.

#include "calibrate/measure/backend/backend.h"
#include "calibrate/measure/discover/nvml_abi.h"

#include <tl/expected.hpp>

namespace trainyard {

template <class T>
using Found = tl::expected<T, MeasureFailure>; // what is missing and what to do about it

// The library while it is open.
class NvmlLibrary {
public:
    NvmlLibrary(const NvmlLibrary&) = delete;
    NvmlLibrary& operator=(const NvmlLibrary&) = delete;
    ~NvmlLibrary();

    // The first of `files` that can be opened and is an NVML of a driver that is new enough.
    static Found<std::unique_ptr<NvmlLibrary>> open(const std::vector<std::string>& files);

    const nvml::Functions& functions() const { return functions_; }

private:
    explicit NvmlLibrary(void* handle);

    void* handle_;
    nvml::Functions functions_;
};

// The system's own, then where WSL, containers and driver images keep it.
std::vector<std::string> usual_nvml_files();

enum class NvlinkEnd : std::uint8_t { gpu, nvswitch, other };

struct NvmlLink {
    int link = 0; // number at this GPU
    bool active = false;
    NvlinkEnd end = NvlinkEnd::other;
    std::string remote; // PCI address; empty: not said
    Bandwidth rate;     // one direction; 0: not said

    bool operator==(const NvmlLink&) const = default;
};

struct NvmlProcess {
    unsigned pid = 0;
    std::optional<Bytes> memory;

    bool operator==(const NvmlProcess&) const = default;
};

struct NvmlPcie {
    int generation = 0; // 0: not said
    int most_generation = 0;
    int lanes = 0;
    int most_lanes = 0;

    bool operator==(const NvmlPcie&) const = default;
};

struct NvmlClocks {
    int sm_mhz = 0; // 0: not said
    int most_sm_mhz = 0;
    int memory_mhz = 0;
    int most_memory_mhz = 0;
    unsigned long long slow_reasons = 0; // bits of nvml_abi.h

    bool operator==(const NvmlClocks&) const = default;
};

struct NvmlGpu {
    int index = 0;
    std::string name;    // "NVIDIA H100 80GB HBM3"
    std::string uuid;    // "GPU-..."
    std::string address; // "0000:1b:00.0", as /sys writes it
    std::string number;  // PCI device number: "0x2330"
    int capability = 0;  // 90; 0: not said
    Bytes memory;
    Bytes memory_used;
    std::optional<bool> mig;
    std::optional<bool> persistence;
    std::optional<bool> ecc;
    double power_limit = 0; // W; 0: not said
    double default_power_limit = 0;
    NvmlClocks clocks;
    NvmlPcie pcie;
    std::optional<int> busy_percent;
    std::vector<NvmlProcess> processes;
    std::vector<NvmlLink> links;
    int c2c_links = 0;         // to its CPU, that are up
    Bandwidth c2c_rate;        // of one, as the driver words it; 0: not said
    std::string nvlink_domain; // the same on all nodes that NVLink joins; empty: this one alone
    std::vector<std::string> lacks; // what could not be read, and why

    bool operator==(const NvmlGpu&) const = default;
};

struct NvmlNode {
    std::string driver;
    std::string nvml;
    std::string cuda; // newest that the driver runs: "13.0"
    std::vector<NvmlGpu> gpus;
    std::vector<std::vector<int>> levels; // by GPU and GPU: 0 self, 10 PIX ... 50 SYS; -1: not said
    std::vector<std::string> lacks;       // GPUs that could not be read, and why

    bool operator==(const NvmlNode&) const = default;
};

// Everything above. Fails where no GPU can be read at all.
Found<NvmlNode> read_nvml(const nvml::Functions& functions);

// What makes measurements on these GPUs doubtful: MIG, others' processes, lowered clocks, PCIe
// links and NVLinks below what they could be, GPUs of different kinds. `own` are processes that
// belong to the measurement itself.
std::vector<std::string> doubts(const NvmlNode& node, const std::vector<unsigned>& own = {});

} // namespace trainyard
