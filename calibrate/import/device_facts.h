#pragma once

// What a topology dump leaves to be known about its GPUs: the model behind a PCI number, and rates
// of its links.

#include "sim/base/quantity.h"

#include <string>
#include <string_view>

namespace trainyard {

// Key of the device constants for a PCI device number of NVIDIA ("0x2330" is an H100 SXM5); empty
// when unknown. Source: the PCI ID repository (pci-ids.ucw.cz).
std::string_view device_of_pci_number(std::string_view number);

// The usual SXM or PCIe card of a compute capability (80: A100); empty when unknown.
std::string_view device_of_capability(int capability);

struct LinkFacts {
    Bandwidth nvlink; // one NVLink, one direction: 25 GB/s, 50 from Blackwell on
    Bandwidth pcie;   // of the card, one direction
    Bandwidth nic;    // the NIC usually sold with it
};

// Rates that a dump does not give, by device model. Source: data sheets, as in topologies/presets.
LinkFacts link_facts(std::string_view model);

// NVLink of one GPU to the NVSwitches that boards with 8 such GPUs have; zero: no such board.
Bandwidth usual_nvswitch_rate(std::string_view model);

// NVLink-C2C of one GPU to its Grace CPU, one direction; zero: not known for that model. Source: as
// in topologies/presets.
Bandwidth usual_c2c_rate(std::string_view model);

// PCIe rate of one direction from "16 GT/s" and 16 lanes, after line coding (8b/10b to generation
// 2, 128b/130b to 5, none in 6); zero when the text is no speed.
Bandwidth pcie_rate(std::string_view speed, int lanes);

} // namespace trainyard
