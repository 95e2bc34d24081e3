#include "calibrate/backends/cuda/cuda_runtime.h"
#include "calibrate/measure/nccl/nccl_backend.h"

using namespace trainyard;

extern "C" __attribute__((visibility("default"))) std::unique_ptr<RankBackend>
trainyard_open_backend(const LaunchPlace& place)
{
    auto libraries = std::make_shared<DeviceLibraries>();
    libraries->cuda = std::make_unique<CudaRuntime>();
    try {
        libraries->nccl = open_nccl();
    } catch (const MeasureFailure& failure) {
        libraries->nccl_missing = failure.message + "; " + failure.fix;
    }
    NcclBackendSettings settings;
    settings.place = place;
    return std::make_unique<NcclBackend>(std::move(libraries), settings);
}
