#pragma once

// What Linux shows of a machine in /sys and /proc: processors, memory, PCIe, network ports. Works
// without GPUs, and where containers hide half of it: what is absent stays empty.

#include "sim/base/quantity.h"

#include <filesystem>
#include <string>
#include <vector>

namespace trainyard {

struct PcieSpeed {
    double transfers = 0; // 1e9 transfers per second and lane; 0: not shown
    int lanes = 0;

    bool operator==(const PcieSpeed&) const = default;
};

struct PciDevice {
    std::string address; // "0000:1b:00.0"
    std::string parent;  // the bridge above; empty: a host bridge
    unsigned kind = 0;   // class: 0x030200 is a GPU, 0x0604xx a bridge, 0x02xxxx a NIC
    std::string vendor;  // "0x10de"
    std::string device;
    PcieSpeed now;
    PcieSpeed most; // what the device itself could do
    int numa = -1;

    bool operator==(const PciDevice&) const = default;
};

bool is_bridge(const PciDevice& device);
bool is_nvidia_gpu(const PciDevice& device);

struct CpuSocket {
    int id = 0;
    int cores = 0;
    int threads = 0;

    bool operator==(const CpuSocket&) const = default;
};

struct NumaNode {
    int id = 0;
    int socket = 0;   // of its first CPU
    std::string cpus; // "0-23,48-71"; empty: memory only
    Bytes memory;

    bool operator==(const NumaNode&) const = default;
};

struct NetworkPort {
    std::string name;    // "mlx5_0", "eth0"
    std::string address; // PCI; empty: not on PCI
    Bandwidth rate;      // 0: not shown
    bool up = false;
    bool rdma = false; // InfiniBand, RoCE or EFA
    bool infiniband = false;
    int port = 1;

    bool operator==(const NetworkPort&) const = default;
};

struct HostFacts {
    std::string name;
    std::string kernel;       // "6.1.0-18-amd64"
    std::string architecture; // "x86_64", "aarch64"; empty: not told
    std::string cpu;          // "Intel Xeon Platinum 8480+"
    std::vector<CpuSocket> sockets;
    std::vector<NumaNode> numa;
    Bytes memory;
    double most_cpu_mhz = 0;    // 0: not shown
    std::string governor;       // of CPU 0; empty: not shown
    double allowed_cpus = 0;    // of a container; 0: no limit
    std::vector<PciDevice> pci; // bridges, GPUs and NICs, by address
    std::vector<NetworkPort> ports;
    std::vector<std::string> hidden; // what is not shown here

    bool operator==(const HostFacts&) const = default;
};

HostFacts read_host(const std::filesystem::path& root = "/");

// PCIe links of GPUs and RDMA NICs below what they could be, ports that are down, CPUs that save
// power or are rationed.
std::vector<std::string> doubts(const HostFacts& host);

const PciDevice* find_device(const HostFacts& host, const std::string& address);

// The bridges above a device, the nearest first. Ends where addresses go in circles.
std::vector<const PciDevice*> bridges_above(const HostFacts& host, const PciDevice& device);

// What the link above a device carries: its lanes as they are now, at the most that both ends could
// do (links save power by running slower while idle); zeros where it is not shown.
PcieSpeed usable_speed(const HostFacts& host, const PciDevice& device);

} // namespace trainyard
