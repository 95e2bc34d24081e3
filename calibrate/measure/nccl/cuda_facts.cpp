#include "calibrate/measure/nccl/cuda_facts.h"

#include "sim/base/units.h"

#include <fmt/format.h>

namespace trainyard {

namespace {

// A context and the libraries' kernels take about half a GiB of an H100.
constexpr Bytes own_share{std::uint64_t{3} << 29};

std::vector<std::string> warnings_of(const CudaDevice& device)
{
    std::vector<std::string> warnings;
    const bool slice =
        device.uuid.starts_with("MIG-") || device.name.find(" MIG ") != std::string::npos;
    if (slice)
        warnings.emplace_back("a MIG slice: times are the slice's, not the GPU's, and NCCL does "
                              "not join slices of one GPU");
    const Bytes used = device.memory - device.free_memory;
    if (!slice && used > own_share)
        warnings.push_back(fmt::format("busy: {} of its memory are in use, by other processes "
                                       "(nvidia-smi shows them)",
                                       to_text(used)));
    if (device.driver_version < device.runtime_version)
        warnings.push_back(fmt::format("the driver supports CUDA {}, the runtime is {}",
                                       cuda_version_text(device.driver_version),
                                       cuda_version_text(device.runtime_version)));
    return warnings;
}

} // namespace

std::string cuda_version_text(int version)
{
    return fmt::format("{}.{}", version / 1000, version % 1000 / 10);
}

BackendFacts facts_of(const CudaDevice& device)
{
    BackendFacts facts;
    facts.device = device.name;
    facts.device_id = device.uuid.empty() ? device.pci_bus_id : device.uuid;
    facts.driver =
        device.driver.empty() ? "CUDA " + cuda_version_text(device.driver_version) : device.driver;
    facts.cuda = cuda_version_text(device.runtime_version);
    facts.memory = device.memory;
    facts.properties = {
        {"pci_bus_id", device.pci_bus_id},
        {"compute_capability",
         fmt::format("{}.{}", device.capability / 10, device.capability % 10)},
        {"multiprocessors", std::to_string(device.multiprocessors)},
        {"sm_clock_max_mhz", std::to_string(device.sm_clock_khz / 1000)},
        {"memory_clock_max_mhz", std::to_string(device.memory_clock_khz / 1000)},
        {"memory_bus_bits", std::to_string(device.memory_bus_bits)},
        {"l2_bytes", std::to_string(device.last_cache.value())},
        {"ecc", device.ecc ? "on" : "off"},
        {"driver_cuda", cuda_version_text(device.driver_version)},
        {"compute_mode", device.exclusive ? "exclusive" : "shared"},
    };
    facts.warnings = warnings_of(device);
    return facts;
}

} // namespace trainyard
