#include "calibrate/measure/discover/record.h"

#include <fmt/core.h>

#include <algorithm>

namespace trainyard {
namespace {

GpuRecord record_of(const NvmlGpu& gpu)
{
    GpuRecord out;
    out.name = gpu.name;
    out.uuid = gpu.uuid;
    out.sm_mhz = gpu.clocks.most_sm_mhz;
    out.memory_mhz = gpu.clocks.most_memory_mhz;
    out.power_limit = gpu.power_limit;
    out.pcie_lanes = gpu.pcie.lanes;
    out.nvlinks = static_cast<int>(std::count_if(gpu.links.begin(), gpu.links.end(),
                                                 [](const NvmlLink& link) { return link.active; }));
    out.ecc = gpu.ecc;
    out.mig = gpu.mig;
    return out;
}

} // namespace

MachineRecord machine_record(const HostFacts& host, const NvmlNode* nvml)
{
    MachineRecord out;
    out.architecture = host.architecture;
    out.cpu = host.cpu;
    out.sockets = static_cast<int>(host.sockets.size());
    for (const CpuSocket& socket : host.sockets)
        out.cores += socket.cores;
    out.memory = host.memory;
    out.governor = host.governor;
    if (nvml != nullptr)
        for (const NvmlGpu& gpu : nvml->gpus)
            out.gpus.push_back(record_of(gpu));
    for (const NetworkPort& port : host.ports)
        if (port.up)
            out.ports.push_back(port.rate.value() > 0 ? fmt::format("{} {:g} Gb/s", port.name,
                                                                    port.rate.value() * 8 / 1e9)
                                                      : port.name);
    return out;
}

} // namespace trainyard
