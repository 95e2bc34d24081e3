#pragma once

// What the program nvidia-smi tells where NVML itself cannot be asked.

#include <chrono>
#include <string>

namespace trainyard {

struct SmiAnswer {
    std::string matrix; // text of `nvidia-smi topo -m`; empty: none
    std::string lacks;  // why there is none; empty too: PATH has no such program

    bool operator==(const SmiAnswer&) const = default;
};

// Runs `nvidia-smi topo -m`, for `limit` at most: where a driver is broken it may hang. Then it is
// killed; what not even that ends, since it waits inside the driver, is left behind.
SmiAnswer ask_nvidia_smi(std::chrono::milliseconds limit = std::chrono::seconds(10));

} // namespace trainyard
