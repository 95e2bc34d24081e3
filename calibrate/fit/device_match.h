#pragma once

// Which shipped device a log speaks of.

#include "sim/cost/profile_library.h"

#include <optional>

namespace trainyard {

// The shipped device whose name or alias is the longest run of whole words in `text`: "NVIDIA H100
// 80GB HBM3" is H100-SXM5-80GB, "A100 80GB PCIe" is A100-PCIe-80GB, and no B200 is in "NVIDIA
// GB200". Nothing when none is named.
std::optional<std::string> device_named_in(const std::string& text,
                                           const Folders& folders = shipped_profiles());

// GPUs that one NVLink domain of that device joins, where it is not those of a node: 72 in a rack
// of GB200 or GB300; 0 otherwise.
int domain_of_rack(const std::string& device);

} // namespace trainyard
