#pragma once

#include <string>
#include <string_view>

namespace trainyard {

// "00000000:1B:00.0" (NVML), "1b:00.0" and "0000:1b:00.0" alike as "0000:1b:00.0"; empty where the
// text is no PCI address.
std::string pci_address(std::string_view text);

} // namespace trainyard
