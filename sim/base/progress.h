#pragma once

// Progress and cancel of long work. The worker calls; the owner (command line, GUI) listens.

#include <atomic>
#include <functional>
#include <string_view>

namespace trainyard {

// Shared by the one who may cancel and the work that must notice.
class CancelFlag {
public:
    void cancel() { cancelled_.store(true, std::memory_order_relaxed); }
    bool cancelled() const { return cancelled_.load(std::memory_order_relaxed); }

private:
    std::atomic<bool> cancelled_{false};
};

// Thrown by work that noticed its flag: neither an error nor a result.
struct Cancelled {};

// `done` of `total` units (total 0: unknown) of the stage named.
using ProgressCall = std::function<void(std::string_view stage, double done, double total)>;

struct WorkControl {
    const CancelFlag* cancel = nullptr;
    ProgressCall progress;

    void check() const
    {
        if (cancel != nullptr && cancel->cancelled())
            throw Cancelled{};
    }
    void report(std::string_view stage, double done, double total) const
    {
        if (progress)
            progress(stage, done, total);
    }
};

} // namespace trainyard
