#pragma once

// The devices of a folder of profiles, found by what logs, records and drivers say of them.

#include "sim/cost/profile_library.h"

#include <functional>

namespace trainyard {

struct KnownDevice {
    std::string key; // as topologies name it: "h100_sxm5_80"
    Device device;
    std::vector<std::string> plain_names; // its name and aliases, by plain_name
};

// Reads every device file once: keep it where several questions are asked. Files that cannot be
// read are left out; whoever uses one of them by name reports why.
class DeviceCatalogue {
public:
    explicit DeviceCatalogue(const Folders& folders);

    // The device whose name or alias is the longest run of whole words in `text`: "NVIDIA H100 80GB
    // HBM3" is H100-SXM5-80GB, "A100 80GB PCIe" is A100-PCIe-80GB, and no B200 is in "NVIDIA
    // GB200". Null when none is named.
    const KnownDevice* named_in(std::string_view text) const;
    // Its name; empty when none is named.
    std::string name_in(std::string_view text) const;
    // GPUs that one NVLink domain of it joins, where that is more than a node; 0 otherwise.
    int nvlink_domain_of(std::string_view text) const;

    // By PCI device number ("0x2330"); null when unknown.
    const KnownDevice* with_pci_id(std::string_view number) const;

    // The typical device of the lowest compute capability that fits; null when none does.
    const KnownDevice* oldest_typical(const std::function<bool(const Device&)>& fits) const;

    const std::vector<KnownDevice>& all() const { return devices_; } // by name

private:
    std::vector<KnownDevice> devices_;
};

// Of the shipped profiles, read at the first call.
const DeviceCatalogue& shipped_devices();

} // namespace trainyard
