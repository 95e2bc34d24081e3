#pragma once

// One kind of server or tray: GPUs, NVLink, PCIe and NICs, as a cluster description gives it.

#include "sim/base/field_names.h"
#include "sim/base/quantity.h"

#include <cstdint>
#include <string>

namespace trainyard {

// How the NVLinks of GPUs meet.
enum class NvlinkWiring : std::uint8_t {
    none,
    switched,   // every GPU into NVSwitches: any pair at full rate
    all_to_all, // a link between every pair: one pair gets rate / (gpus - 1)
    cube_mesh,  // DGX-1 with V100: 8 GPUs, 4 neighbours each, two of them with double links
    pairs       // bridges between GPUs 0-1, 2-3, ...
};

struct NvlinkTemplate {
    NvlinkWiring wiring = NvlinkWiring::none;
    Bandwidth rate;                        // per GPU and direction, all links together
    int domain = 0;                        // GPUs that NVLink joins; 0: those of one node
    Seconds hop_latency = Seconds(0.3e-6); // from GPU to GPU
    bool reduction = false;                // multicast and sums in the NVSwitch (NVLS)

    bool operator==(const NvlinkTemplate&) const = default;
};

// What lies between a GPU and its NICs.
enum class NicPath : std::uint8_t {
    pcie, // PCIe switch
    c2c   // C2C to the Grace CPU that the NICs are plugged into (GB200)
};

struct NodeTemplate {
    std::string source; // where the figures come from
    std::string device; // key of the device constants
    int gpus = 8;
    NvlinkTemplate nvlink;
    Bandwidth pcie;                         // per GPU and direction
    Seconds pcie_latency = Seconds(0.4e-6); // of one PCIe link
    int pcie_switches = 0;                  // 0: the most that share out GPUs and NICs evenly
    Bandwidth c2c;                          // per GPU and direction to the CPU's memory; 0: none
    NicPath nic_path = NicPath::pcie;
    int nics = 0;                      // for traffic between nodes; management NICs do not count
    std::optional<Bandwidth> nic_rate; // one direction; absent: the network's port rate

    std::string usual_network; // network preset, where the fabric names none

    bool operator==(const NodeTemplate&) const = default;
};

// PCIe switches of a node, `pcie_switches` or its default; each holds the same number of GPUs.
int pcie_switch_count(const NodeTemplate& node);

// GPUs that NVLink joins: `nvlink.domain`, or those of one node.
int domain_gpus(const NodeTemplate& node);

// One NVLink connection from GPU `from` to GPU `to` of a node without NVSwitch.
struct NvlinkWire {
    int from = 0;
    int to = 0;
    int links = 0; // of the `nvlinks_per_gpu` that share the GPU's rate
};

// 1 for `none` and `switched`.
int nvlinks_per_gpu(const NodeTemplate& node);

// All of them, ordered by from, then to; empty for `none` and `switched`.
std::vector<NvlinkWire> nvlink_wires(const NodeTemplate& node);

template <>
std::vector<EnumName<NvlinkWiring>> enum_names<NvlinkWiring>();
template <>
std::vector<EnumName<NicPath>> enum_names<NicPath>();
template <>
const FieldTable<NvlinkTemplate>& fields_of<NvlinkTemplate>();
template <>
const FieldTable<NodeTemplate>& fields_of<NodeTemplate>();

} // namespace trainyard
