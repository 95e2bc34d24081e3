#pragma once

// What a communicator does on its device thread: buffers, batches, checks. Every wait in it is
// bounded where the library comes back at all; NcclCommunicator sees to calls that do not.

#include "calibrate/measure/nccl/device_arena.h"
#include "calibrate/measure/nccl/prepared_work.h"

#include <chrono>

namespace trainyard {

struct NcclLimits {
    std::chrono::milliseconds meet{120'000};   // for the other ranks' values in the rendezvous
    std::chrono::milliseconds create{180'000}; // making a communicator, over slow networks too
    std::chrono::milliseconds batch{60'000};   // for 64 ops
    std::chrono::milliseconds grace{5'000};    // for a call to come back after an abort
};

class MeasureSession {
public:
    MeasureSession(std::shared_ptr<DeviceLibraries> libraries, const GroupSpec& group, int rank,
                   const NcclLimits& limits);
    ~MeasureSession();

    // All of these on the device thread.
    void connect(const NcclId& id);
    void prepare(const TimedWork& work);
    BatchTime run(int ops);
    std::optional<std::int64_t> wrong_elements();

    // From any thread: what runs ends with an `aborted` failure soon.
    void stop() noexcept { stop_ = true; }
    const std::atomic<bool>& stopped() const { return stop_; }

    // From any thread.
    NcclGroup& group() { return group_; }

private:
    // Work with its memory; of BesideWork there are two.
    struct Lane {
        std::unique_ptr<PreparedWork> work;
        DeviceArena arena;
        CudaStream stream = nullptr;
        std::uint64_t used_slots = 0;

        void issue(int op) { work->issue(op, arena.slot(used_slots++), stream); }
    };

    Lane make_lane(std::unique_ptr<PreparedWork> work, CudaStream stream);
    void barrier();
    Seconds run_queued(int ops);
    Seconds run_waited(int ops);
    Seconds run_issue(int ops);
    Seconds run_graph(int ops);
    BatchTime run_beside(int ops);
    void record(CudaEvent event, CudaStream stream);
    void await(CudaEvent event);
    [[noreturn]] void give_up(FailureKind kind, const std::string& why);

    CudaApi& cuda() { return *libraries_->cuda; }

    // Keeps at most a few hundred ops queued, so that the host is never blocked by a full queue
    // behind a hung device, while the device never runs dry.
    class Throttle;

    std::shared_ptr<DeviceLibraries> libraries_;
    NcclGroup group_;
    NcclLimits limits_;
    std::atomic<bool> stop_{false};
    Bytes last_cache_;
    CudaStream main_ = nullptr;
    CudaStream side_ = nullptr;
    std::vector<CudaEvent> events_; // by EventUse
    std::byte* scratch_ = nullptr;  // of the barrier
    std::string doing_;
    Lane timed_;
    Lane beside_;
    int repeats_ = 0;
};

} // namespace trainyard
