#pragma once

// What a topology dump leaves to be known about its GPUs: rates of their links, by the file of
// their device.

#include "sim/cost/device_catalogue.h"

namespace trainyard {

// Key of the oldest typical device that fits. Of a card of PCIe 4 without NVLink where none does.
std::string oldest_model(const std::function<bool(const Device&)>& fits);

// Rates that a dump does not give, of one GPU and direction.
struct LinkFacts {
    Bandwidth nvlink; // one NVLink
    Bandwidth pcie;   // of the card
    Bandwidth c2c;    // to its CPU; 0: not known
    Bandwidth nic;    // the NIC usually beside it
};

// By the words of a device model. What no device file says is that of a card of PCIe 4 with NVLink
// 3 and a NIC of 100 Gb/s.
LinkFacts link_facts(std::string_view model);

// NVLink of one GPU to the NVSwitches that its usual board of eight has; 0: no such board.
Bandwidth usual_nvswitch_rate(std::string_view model);

// PCIe rate of one direction from "16 GT/s" and 16 lanes, after line coding (8b/10b to generation
// 2, 128b/130b to 5, none in 6); zero when the text is no speed.
Bandwidth pcie_rate(std::string_view speed, int lanes);

} // namespace trainyard
