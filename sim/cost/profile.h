#pragma once

#include "sim/cost/software.h"

namespace trainyard {

// Constants of the hardware, the software class and the installation.
struct Profile {
    std::string name;
    SoftwareClass software;
};

} // namespace trainyard
