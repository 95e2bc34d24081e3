#include "calibrate/measure/nccl/device_thread.h"

#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>

namespace trainyard {

// Owned by the thread too, which may outlive everything else.
struct DeviceThread::Shared {
    std::mutex mutex;
    std::condition_variable changed;
    std::function<void()> call;
    std::exception_ptr thrown;
    bool busy = false;
    bool ending = false;
    std::thread thread;
};

namespace {

template <class Shared>
void serve(std::shared_ptr<Shared> shared)
{
    std::unique_lock lock(shared->mutex);
    while (true) {
        shared->changed.wait(lock, [&] { return shared->call || shared->ending; });
        if (!shared->call)
            return;
        std::function<void()> call = std::exchange(shared->call, nullptr);
        lock.unlock();
        std::exception_ptr thrown;
        try {
            call();
        } catch (...) {
            thrown = std::current_exception();
        }
        call = nullptr; // what it owned goes on this thread
        lock.lock();
        shared->thrown = thrown;
        shared->busy = false;
        shared->changed.notify_all();
    }
}

} // namespace

DeviceThread::DeviceThread() : shared_(std::make_shared<Shared>())
{
    shared_->thread = std::thread(serve<Shared>, shared_);
}

DeviceThread::~DeviceThread()
{
    std::unique_lock lock(shared_->mutex);
    shared_->ending = true;
    shared_->changed.notify_all();
    if (shared_->busy) {
        shared_->thread.detach();
        return;
    }
    lock.unlock();
    shared_->thread.join();
}

void DeviceThread::start(std::function<void()> call)
{
    const std::lock_guard lock(shared_->mutex);
    shared_->call = std::move(call);
    shared_->thrown = nullptr;
    shared_->busy = true;
    shared_->changed.notify_all();
}

CallEnd DeviceThread::finish(std::chrono::milliseconds limit, const std::atomic<bool>& stop)
{
    constexpr std::chrono::milliseconds look_up{5}; // how often `stop` is read
    const auto deadline = std::chrono::steady_clock::now() + limit;
    std::unique_lock lock(shared_->mutex);
    while (shared_->busy) {
        if (stop.load())
            return CallEnd::stopped;
        if (std::chrono::steady_clock::now() >= deadline)
            return CallEnd::late;
        shared_->changed.wait_for(lock, look_up);
    }
    if (shared_->thrown)
        std::rethrow_exception(std::exchange(shared_->thrown, nullptr));
    return CallEnd::returned;
}

bool DeviceThread::busy() const
{
    const std::lock_guard lock(shared_->mutex);
    return shared_->busy;
}

} // namespace trainyard
