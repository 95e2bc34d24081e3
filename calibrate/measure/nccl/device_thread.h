#pragma once

// A thread for calls that may never come back.
//
// NCCL and the CUDA driver block where a peer or a device hangs, and NCCL's non-blocking mode is no
// way out: since 2.27 it starts a thread for every launch, which would be part of what is measured.
// So all calls go to one thread, and who waits for it can stop waiting.

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>

namespace trainyard {

enum class CallEnd : std::uint8_t { returned, late, stopped };

class DeviceThread {
public:
    DeviceThread();
    DeviceThread(const DeviceThread&) = delete;
    DeviceThread& operator=(const DeviceThread&) = delete;

    // Ends the thread; leaves one behind that is stuck in a call.
    ~DeviceThread();

    // Starts `call`, which must own what it needs: it may go on after everybody stopped waiting.
    // Requires that no call is under way.
    void start(std::function<void()> call);

    // Waits for it, rethrows what it threw. Late: not within `limit`; stopped: `stop` came true
    // before. Then it is still under way and can be waited for again.
    CallEnd finish(std::chrono::milliseconds limit, const std::atomic<bool>& stop);

    bool busy() const; // with a call that was not finished

private:
    struct Shared;
    std::shared_ptr<Shared> shared_;
};

} // namespace trainyard
