#include "sim/base/parallel.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace trainyard {

int usable_threads()
{
    return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

void for_each_index(std::size_t count, int threads, const std::function<void(std::size_t)>& work)
{
    std::atomic<std::size_t> next{0};
    std::atomic<bool> stopped{false};
    std::mutex mutex;
    std::exception_ptr failure;
    const auto take_turns = [&] {
        try {
            while (!stopped) {
                const std::size_t index = next++;
                if (index >= count)
                    return;
                work(index);
            }
        } catch (...) {
            const std::lock_guard lock(mutex);
            stopped = true;
            if (!failure)
                failure = std::current_exception();
        }
    };
    const std::size_t helpers = std::min(static_cast<std::size_t>(std::max(1, threads)), count);
    std::vector<std::jthread> others;
    for (std::size_t i = 1; i < helpers; ++i)
        others.emplace_back(take_turns);
    take_turns();
    others.clear(); // joins
    if (failure)
        std::rethrow_exception(failure);
}

} // namespace trainyard
