#pragma once

#include "calibrate/measure/backend/backend.h"

#include <gloo/transport/device.h>

#include <memory>
#include <string>

namespace trainyard {

struct GlooDevice {
    std::shared_ptr<gloo::transport::Device> device;
    std::string interface; // as asked of Gloo: "eth0", or a host name
    std::string warning;   // empty: none
};

// TCP on the interface that GLOO_SOCKET_IFNAME names (the first of several), else on the address of
// the host's name, else on the loopback interface, which only ranks of this host reach. Throws
// MeasureFailure.
GlooDevice open_gloo_device(const LaunchPlace& place);

} // namespace trainyard
