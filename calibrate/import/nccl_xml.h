#pragma once

// NCCL's topology XML (NCCL_TOPO_FILE, NCCL_TOPO_DUMP_FILE): one node.
//
//     <system version="1"> <cpu numaid="0" ...> <pci busid="0000:0f:00.0" class="0x030200"
//     link_speed="32.0 GT/s PCIe"
//       link_width="16"> <gpu dev="0" sm="90" rank="0" gdr="1"> <nvlink target="0000:1c:00.0"
//       count="5" tclass="0x068000"/> </gpu> </pci> ... <nic> <net name="mlx5_0" dev="0"
//       speed="200000" gdr="1"/> </nic> </cpu>
//
// An NVSwitch is no element: it is what the class of an nvlink's target says (0x0680..). Speeds of
// nets are in Mb/s. Where the file comes before NCCL looked at the machine, gpu, nvlink and net are
// missing.

#include "calibrate/import/node_map.h"

namespace trainyard {

// An element as it stands: reading what was written gives an equal one.
struct XmlElement {
    std::string name;
    std::vector<std::pair<std::string, std::string>> attributes; // in order
    std::vector<XmlElement> children;

    // Empty when absent.
    std::string attribute(std::string_view key) const;

    bool operator==(const XmlElement&) const = default;
};

enum class PciKind { gpu, nic, bridge, nvswitch, unknown, other };

// What a <pci> element is, by its class, else by what it holds.
PciKind pci_kind(const XmlElement& pci);

// The <system> element; comments and text between elements are dropped.
Checked<XmlElement> read_nccl_xml(std::string_view text, const std::string& file);

std::string to_xml(const XmlElement& element);

// The node it describes. `model`: key of the device constants; empty: from the PCI numbers, else
// assumed and said. Nothing when it has no GPU (said in the notes).
std::optional<NodeMap> node_of_xml(const XmlElement& system, std::string model, ImportNotes& notes);

} // namespace trainyard
