// Holds what is declared without NVIDIA's headers to these, where a build has them.

#include "calibrate/measure/discover/nvml_abi.h"
#include "calibrate/measure/nccl/nccl_api.h"

#include <driver_types.h>

#include <type_traits>

using namespace trainyard;

static_assert(std::is_same_v<cudaStream_t, CudaStream> && std::is_same_v<cudaEvent_t, CudaEvent> &&
              std::is_same_v<cudaGraphExec_t, CudaGraph>);

constexpr bool equal(CudaCode ours, cudaError_t theirs)
{
    return static_cast<int>(ours) == static_cast<int>(theirs);
}
static_assert(equal(CudaCode::success, cudaSuccess) &&
              equal(CudaCode::invalid_value, cudaErrorInvalidValue) &&
              equal(CudaCode::out_of_memory, cudaErrorMemoryAllocation) &&
              equal(CudaCode::initialization, cudaErrorInitializationError) &&
              equal(CudaCode::insufficient_driver, cudaErrorInsufficientDriver) &&
              equal(CudaCode::devices_unavailable, cudaErrorDevicesUnavailable) &&
              equal(CudaCode::no_device, cudaErrorNoDevice) &&
              equal(CudaCode::no_kernel_image, cudaErrorNoKernelImageForDevice) &&
              equal(CudaCode::ecc, cudaErrorECCUncorrectable) &&
              equal(CudaCode::unsupported_ptx, cudaErrorUnsupportedPtxVersion) &&
              equal(CudaCode::illegal_address, cudaErrorIllegalAddress) &&
              equal(CudaCode::launch_failure, cudaErrorLaunchFailure) &&
              equal(CudaCode::system_not_ready, cudaErrorSystemNotReady) &&
              equal(CudaCode::driver_mismatch, cudaErrorSystemDriverMismatch) &&
              equal(CudaCode::compatibility_not_supported, cudaErrorCompatNotSupportedOnDevice) &&
              equal(CudaCode::unknown, cudaErrorUnknown));

#if __has_include(<nccl.h>)
#include <nccl.h>

static_assert(std::is_same_v<ncclComm_t, NcclComm> && sizeof(ncclUniqueId) == sizeof(NcclId));
static_assert(int(ncclUint8) == int(NcclType::uint8) &&
              int(ncclFloat16) == int(NcclType::float16) &&
              int(ncclFloat32) == int(NcclType::float32) &&
              int(ncclBfloat16) == int(NcclType::bfloat16) &&
              int(ncclSum) == int(NcclOperator::sum));
static_assert(int(ncclSuccess) == int(NcclResult::success) &&
              int(ncclUnhandledCudaError) == int(NcclResult::unhandled_cuda_error) &&
              int(ncclSystemError) == int(NcclResult::system_error) &&
              int(ncclInternalError) == int(NcclResult::internal_error) &&
              int(ncclInvalidArgument) == int(NcclResult::invalid_argument) &&
              int(ncclInvalidUsage) == int(NcclResult::invalid_usage) &&
              int(ncclRemoteError) == int(NcclResult::remote_error) &&
              int(ncclInProgress) == int(NcclResult::in_progress));
// NCCL copies `size` bytes and takes defaults for what `version` did not have yet.
static_assert(offsetof(ncclConfig_t, size) == offsetof(NcclConfig, size) &&
              offsetof(ncclConfig_t, magic) == offsetof(NcclConfig, magic) &&
              offsetof(ncclConfig_t, version) == offsetof(NcclConfig, version) &&
              offsetof(ncclConfig_t, blocking) == offsetof(NcclConfig, blocking) &&
              sizeof(NcclConfig) <= sizeof(ncclConfig_t));
#endif

#if __has_include(<nvml.h>)
#include <nvml.h>

static_assert(sizeof(nvmlPciInfo_t) == sizeof(nvml::PciInfo) &&
              offsetof(nvmlPciInfo_t, busId) == offsetof(nvml::PciInfo, bus_id) &&
              offsetof(nvmlPciInfo_t, pciDeviceId) == offsetof(nvml::PciInfo, device_and_vendor));
static_assert(sizeof(nvmlMemory_t) == sizeof(nvml::Memory) &&
              sizeof(nvmlUtilization_t) == sizeof(nvml::Utilization) &&
              sizeof(nvmlProcessInfo_t) == sizeof(nvml::ProcessInfo) &&
              sizeof(nvmlFieldValue_t) == sizeof(nvml::FieldValue) &&
              offsetof(nvmlFieldValue_t, value) == offsetof(nvml::FieldValue, value));
static_assert(NVML_FI_DEV_NVLINK_GET_SPEED == nvml::field_nvlink_speed &&
              NVML_FI_DEV_NVLINK_SPEED_MBPS_COMMON == nvml::field_nvlink_speed_common &&
              NVML_FI_DEV_C2C_LINK_COUNT == nvml::field_c2c_links &&
              NVML_FI_DEV_C2C_LINK_GET_STATUS == nvml::field_c2c_active &&
              NVML_FI_DEV_C2C_LINK_GET_MAX_BW == nvml::field_c2c_speed &&
              sizeof(nvmlGpuFabricInfo_t) == sizeof(nvml::FabricInfo));
static_assert(NVML_CLOCK_SM == nvml::clock_sm && NVML_CLOCK_MEM == nvml::clock_memory &&
              NVML_NVLINK_DEVICE_TYPE_GPU == nvml::remote_gpu &&
              NVML_NVLINK_DEVICE_TYPE_SWITCH == nvml::remote_switch);
#endif
