#pragma once

// What measuring needs of CUDA, as a table: the module trainyard-backend-cuda fills it with the
// runtime and its kernels, tests with a simulated device. No CUDA header is needed to use it.

#include "calibrate/measure/backend/work.h"
#include "calibrate/measure/nccl/pattern.h"

#include <tl/expected.hpp>

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>

// The runtime's own types.
struct CUstream_st;
struct CUevent_st;
struct CUgraphExec_st;

namespace trainyard {

// Errors of the CUDA runtime that need words of their own (driver_types.h, the same numbers since
// CUDA 11). Others keep their number too.
enum class CudaCode : int {
    no_driver = -1, // ours: the runtime says insufficient_driver
    success = 0,
    invalid_value = 1,
    out_of_memory = 2,
    initialization = 3,
    insufficient_driver = 35,
    devices_unavailable = 46, // exclusive mode, and another process has it
    no_device = 100,
    no_kernel_image = 209,
    ecc = 214,
    unsupported_ptx = 222,
    illegal_address = 700,
    launch_failure = 719,
    system_not_ready = 802, // NVSwitch without its fabric manager
    driver_mismatch = 803,
    compatibility_not_supported = 804,
    unknown = 999
};

template <class T>
using CudaResult = tl::expected<T, CudaCode>;

using CudaStream = CUstream_st*;
using CudaEvent = CUevent_st*;
using CudaGraph = CUgraphExec_st*;

struct CudaDevice {
    std::string name;
    std::string uuid;       // "GPU-...", of a slice "MIG-..."
    std::string pci_bus_id; // "0000:1b:00.0"
    std::string driver;     // "580.65.06"; empty: unknown
    int driver_version = 0; // the CUDA that the driver supports: 13000 is 13.0
    int runtime_version = 0;
    int capability = 0; // 90: 9.0
    int multiprocessors = 0;
    int sm_clock_khz = 0;     // highest
    int memory_clock_khz = 0; // highest
    int memory_bus_bits = 0;
    bool ecc = false;
    bool exclusive = false; // compute mode: one process at a time
    Bytes memory;
    Bytes free_memory; // just after this process took the device
    Bytes last_cache;  // L2
};

// One LocalWork, ready to be launched.
class DevicePlan {
public:
    DevicePlan() = default;
    DevicePlan(const DevicePlan&) = delete;
    DevicePlan& operator=(const DevicePlan&) = delete;
    virtual ~DevicePlan() = default;

    // Device memory of one op, which the caller rotates and fills; 0: none.
    virtual Bytes slot() const = 0;

    virtual CudaCode launch(std::byte* slot, CudaStream stream) = 0;

    // After a launch on random data in `slot`: how many of the elements that were compared with a
    // plain recalculation are wrong. Waits. Nothing where there is no result.
    virtual CudaResult<std::optional<std::int64_t>> wrong(std::byte* slot, CudaStream stream) = 0;
};

// Calls act on the device that the calling thread uses. Those without "waits" only queue.
class CudaApi {
public:
    CudaApi() = default;
    CudaApi(const CudaApi&) = delete;
    CudaApi& operator=(const CudaApi&) = delete;
    virtual ~CudaApi() = default;

    virtual std::string error_text(CudaCode code) const = 0; // the runtime's name and words
    virtual CudaResult<int> device_count() = 0;
    virtual CudaCode use_device(int index) = 0;
    virtual CudaResult<CudaDevice> device() = 0;

    virtual CudaResult<Bytes> free_memory() = 0;
    virtual CudaResult<std::byte*> allocate(Bytes size) = 0;
    virtual CudaCode release(std::byte* memory) = 0; // waits for work that is queued

    virtual CudaResult<CudaStream> make_stream() = 0;
    virtual CudaCode destroy(CudaStream stream) = 0;
    virtual CudaCode synchronize(CudaStream stream) = 0; // waits

    virtual CudaResult<CudaEvent> make_event() = 0;
    virtual CudaCode destroy(CudaEvent event) = 0;
    virtual CudaCode record(CudaEvent event, CudaStream stream) = 0;
    virtual CudaCode wait(CudaStream stream, CudaEvent event) = 0; // the stream does, not the host
    virtual CudaResult<bool> done(CudaEvent event) = 0;
    virtual CudaResult<Seconds> elapsed(CudaEvent from, CudaEvent to) = 0; // both are done

    // A graph of what `issue` queues; what it throws passes through.
    virtual CudaResult<CudaGraph> capture(CudaStream stream,
                                          const std::function<void()>& issue) = 0;
    virtual CudaCode replay(CudaGraph graph, CudaStream stream) = 0;
    virtual CudaCode destroy(CudaGraph graph) = 0;

    virtual Seconds host_time() = 0; // the clock for what the host spends

    virtual CudaCode fill(std::byte* memory, const DataPattern& pattern, CudaStream stream) = 0;

    // How many elements differ from `pattern`, which is not random. Waits.
    virtual CudaResult<std::int64_t> count_wrong(const std::byte* memory,
                                                 const DataPattern& pattern, CudaStream stream) = 0;

    // Why `work` cannot be done here, for people; empty: it can.
    virtual std::string cannot(const LocalWork& work) const = 0;

    // Throws MeasureFailure. Requires that it can be done.
    virtual std::unique_ptr<DevicePlan> plan(const LocalWork& work) = 0;
};

} // namespace trainyard
