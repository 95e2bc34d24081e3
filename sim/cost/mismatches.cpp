#include "sim/cost/part_files.h"

#include <fmt/core.h>

namespace trainyard {

Problems mismatches(const Profile& profile, const Topology& topology)
{
    Problems out;
    const auto tell = [&](Severity severity, std::string message, std::string hint) {
        out.push_back({"", 0, "/profile", std::move(message), std::move(hint), severity});
    };
    if (topology.device_count() == 0)
        return out;
    const DeviceAttachment device = topology.device(DeviceId{0});
    if (!answers_to(profile.hardware.device.name, profile.hardware.device.aliases, device.model))
        tell(Severity::error,
             fmt::format("profile \"{}\" is of {}, the topology has {}", profile.name,
                         profile.hardware.device.name, device.model),
             "a profile of that device, none (the shipped constants of the topology's), or a "
             "topology of the profile's device");
    const bool nvlink = device.nvlink.value() > 0;
    if (nvlink != (profile.hardware.device.nvlink.value() > 0))
        tell(Severity::warning,
             nvlink ? "the topology has NVLink, the profile's device has none"
                    : "the topology has no NVLink, the profile's device has",
             "choose a profile of the same kind of server");
    const NodeNetwork network = topology.network(device.node);
    if (network.transport != Transport::none && !network.name.empty() &&
        !answers_to(profile.hardware.network.name, profile.hardware.network.aliases, network.name))
        tell(Severity::warning,
             fmt::format("profile \"{}\" is of network {}, the topology has {}", profile.name,
                         profile.hardware.network.name, network.name),
             "line rates are the topology's, latency and efficiency the profile's");
    return out;
}

} // namespace trainyard
