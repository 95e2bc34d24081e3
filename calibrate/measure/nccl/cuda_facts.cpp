#include "calibrate/measure/nccl/cuda_facts.h"

#include "sim/base/units.h"

#include <fmt/core.h>

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

std::string cannot_multiply_type(const LocalWork& work, int capability)
{
    constexpr int first_with_fp8 = 89; // Ada and Hopper
    constexpr std::int64_t step = 16;  // bytes that rows of 8-bit operands are aligned to
    if (work.type == ElementType::uint8)
        return "GEMMs are timed in float32, float16, bfloat16 and float8_e4m3";
    if (work.type != ElementType::float8_e4m3)
        return {};
    if (capability < first_with_fp8)
        return fmt::format("float8_e4m3 needs compute capability 8.9, this GPU has {}.{}",
                           capability / 10, capability % 10);
    if (work.m % step != 0 || work.n % step != 0 || work.k % step != 0)
        return fmt::format("cuBLASLt multiplies float8_e4m3 where m, n and k are multiples of {}",
                           step);
    return {};
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
