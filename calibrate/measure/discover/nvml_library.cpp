// Opens NVML and finds its functions.

#include "calibrate/measure/backend/shared_library.h"
#include "calibrate/measure/discover/nvml.h"

#include <dlfcn.h>
#include <fmt/core.h>

#include <filesystem>

namespace trainyard {
namespace {

nvml::Functions functions_of(const LibraryFunctions& library)
{
    nvml::Functions f;
    const auto take = [&library](const char* name, auto& out) { library.take(name, out); };
    take("nvmlInit_v2", f.init);
    take("nvmlShutdown", f.shutdown);
    take("nvmlErrorString", f.error_string);
    take("nvmlSystemGetDriverVersion", f.driver_version);
    take("nvmlSystemGetNVMLVersion", f.nvml_version);
    take("nvmlSystemGetCudaDriverVersion_v2", f.cuda_version);
    take("nvmlDeviceGetCount_v2", f.device_count);
    take("nvmlDeviceGetHandleByIndex_v2", f.device_at);
    take("nvmlDeviceGetName", f.name);
    take("nvmlDeviceGetUUID", f.uuid);
    take("nvmlDeviceGetPciInfo_v3", f.pci);
    take("nvmlDeviceGetCudaComputeCapability", f.capability);
    take("nvmlDeviceGetMemoryInfo", f.memory);
    take("nvmlDeviceGetMigMode", f.mig_mode);
    take("nvmlDeviceGetPersistenceMode", f.persistence);
    take("nvmlDeviceGetEccMode", f.ecc);
    take("nvmlDeviceGetEnforcedPowerLimit", f.power_limit);
    take("nvmlDeviceGetPowerManagementDefaultLimit", f.default_power_limit);
    take("nvmlDeviceGetClockInfo", f.clock);
    take("nvmlDeviceGetMaxClockInfo", f.max_clock);
    take("nvmlDeviceGetCurrentClocksThrottleReasons", f.slow_reasons);
    if (f.slow_reasons == nullptr) // the new name of the same; the old one is to go
        take("nvmlDeviceGetCurrentClocksEventReasons", f.slow_reasons);
    take("nvmlDeviceGetUtilizationRates", f.utilization);
    take("nvmlDeviceGetComputeRunningProcesses_v3", f.processes);
    take("nvmlDeviceGetCurrPcieLinkGeneration", f.pcie_generation);
    take("nvmlDeviceGetMaxPcieLinkGeneration", f.max_pcie_generation);
    take("nvmlDeviceGetCurrPcieLinkWidth", f.pcie_width);
    take("nvmlDeviceGetMaxPcieLinkWidth", f.max_pcie_width);
    take("nvmlDeviceGetNvLinkState", f.nvlink_state);
    take("nvmlDeviceGetNvLinkVersion", f.nvlink_version);
    take("nvmlDeviceGetNvLinkRemotePciInfo_v2", f.nvlink_remote);
    take("nvmlDeviceGetNvLinkRemoteDeviceType", f.nvlink_remote_type);
    take("nvmlDeviceGetFieldValues", f.fields);
    take("nvmlDeviceGetGpuFabricInfo", f.fabric);
    take("nvmlDeviceGetTopologyCommonAncestor", f.common_ancestor);
    return f;
}

} // namespace

NvmlLibrary::NvmlLibrary(void* handle)
    : handle_(handle), functions_(functions_of(LibraryFunctions(handle)))
{}

NvmlLibrary::~NvmlLibrary()
{
    dlclose(handle_);
}

Found<std::unique_ptr<NvmlLibrary>> NvmlLibrary::open(const std::vector<std::string>& files)
{
    std::string no_nvml;
    std::string unusable; // one that is there and does not open: of another architecture, cut, ...
    for (const std::string& file : files) {
        const auto handle = try_to_open(file);
        if (!handle) {
            if (std::error_code ignored; unusable.empty() && std::filesystem::exists(file, ignored))
                unusable = handle.error();
            continue;
        }
        std::unique_ptr<NvmlLibrary> library(new NvmlLibrary(*handle));
        const nvml::Functions& f = library->functions_;
        if (f.init != nullptr && f.shutdown != nullptr && f.device_count != nullptr &&
            f.device_at != nullptr)
            return library;
        no_nvml = file;
    }
    if (!no_nvml.empty())
        return tl::make_unexpected(
            MeasureFailure{FailureKind::missing,
                           fmt::format("{} is no NVML, or one of a very old driver", no_nvml),
                           "install NVIDIA's driver 450 or newer"});
    if (!unusable.empty())
        return tl::make_unexpected(
            MeasureFailure{FailureKind::missing, "NVML cannot be opened: " + unusable,
                           "install the driver's libraries of this machine's architecture; in a "
                           "container let the NVIDIA container toolkit put them there"});
    return tl::make_unexpected(MeasureFailure{
        FailureKind::missing,
        fmt::format("NVIDIA's driver is not installed: its library {} was not found, nor in {} "
                    "other places",
                    files.front(), files.size() - 1),
        "on a machine with NVIDIA GPUs install the driver; in a container start it with --gpus all "
        "(the NVIDIA container toolkit)"});
}

std::vector<std::string> usual_nvml_files()
{
    return {"libnvidia-ml.so.1",
            "/usr/lib/wsl/lib/libnvidia-ml.so.1",        // WSL
            "/usr/local/nvidia/lib64/libnvidia-ml.so.1", // containers of Kubernetes
            "/usr/lib/x86_64-linux-gnu/libnvidia-ml.so.1",
            "/usr/lib/aarch64-linux-gnu/libnvidia-ml.so.1",
            "/usr/lib64/libnvidia-ml.so.1",
            "/run/nvidia/driver/usr/lib/x86_64-linux-gnu/libnvidia-ml.so.1", // driver containers
            "/run/nvidia/driver/usr/lib/aarch64-linux-gnu/libnvidia-ml.so.1",
            "/run/opengl-driver/lib/libnvidia-ml.so.1"}; // NixOS
}

} // namespace trainyard
