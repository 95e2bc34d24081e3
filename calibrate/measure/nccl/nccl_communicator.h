#pragma once

// A Communicator on CUDA and NCCL. Calls end in bounded time whatever the libraries do: what does
// not come back, also after ncclCommAbort, is left behind on its thread, and the back end is used
// up.

#include "calibrate/measure/nccl/device_thread.h"
#include "calibrate/measure/nccl/measure_session.h"

namespace trainyard {

// Calls on the thread of a device, with a limit.
struct BoundedCall {
    std::string doing; // "rank 2 of all 8, all_reduce 64 MiB"
    std::chrono::milliseconds limit;
    std::chrono::milliseconds grace;
};

// Runs `call` on `thread`; `call` owns what it needs. When it is late, or `stop` came true, and has
// not ended by itself within the grace, `unblock` is called from a thread of its own. Throws what
// the call threw, or timed_out or aborted.
void run_bounded(DeviceThread& thread, const BoundedCall& bounds, std::function<void()> call,
                 const std::atomic<bool>& stop, std::function<void()> unblock);

class NcclCommunicator : public Communicator {
public:
    NcclCommunicator(std::shared_ptr<DeviceThread> thread, std::shared_ptr<MeasureSession> session,
                     const NcclLimits& limits);
    ~NcclCommunicator() override;

    void connect(const NcclId& id);

    // As `connect`; what NCCL writes of the topology meanwhile, empty where it writes nothing.
    std::string connect_and_dump(const NcclId& id);

    void prepare(const TimedWork& work) override;
    BatchTime run(int ops) override;
    std::optional<std::int64_t> wrong_elements() override;
    void abort() noexcept override { session_->stop(); }

private:
    void call(const std::string& doing, std::chrono::milliseconds limit,
              std::function<void(MeasureSession&)> action);

    std::shared_ptr<DeviceThread> thread_;
    std::shared_ptr<MeasureSession> session_;
    NcclLimits limits_;
    std::string doing_;
};

} // namespace trainyard
