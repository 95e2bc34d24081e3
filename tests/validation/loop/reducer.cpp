#include "tests/validation/loop/reducer.h"

namespace trainyard::loop {

std::vector<std::size_t> bucket_ends(const std::vector<std::size_t>& tensor_sizes,
                                     const BucketLimits& limits)
{
    std::vector<std::size_t> ends;
    std::size_t end = 0;
    std::size_t begin = 0;
    for (const std::size_t size : tensor_sizes) {
        end += size;
        const std::size_t limit = ends.empty() ? limits.first : limits.others;
        if ((end - begin) * sizeof(float) >= limit) {
            ends.push_back(end);
            begin = end;
        }
    }
    if (end > begin)
        ends.push_back(end);
    return ends;
}

Reducer::Reducer(Group& group, std::span<float> gradients,
                 const std::vector<std::size_t>& tensor_sizes,
                 const std::optional<BucketLimits>& limits)
    : group_(group), gradients_(gradients), ends_{gradients.size()}
{
    if (!limits)
        return;
    ends_ = bucket_ends(tensor_sizes, *limits);
    thread_ = std::thread([this] { serve(); });
}

Reducer::~Reducer()
{
    if (!thread_.joinable())
        return;
    {
        const std::lock_guard lock(mutex_);
        stop_ = true;
    }
    changed_.notify_all();
    thread_.join();
}

void Reducer::made(std::size_t count)
{
    if (!thread_.joinable())
        return;
    {
        const std::lock_guard lock(mutex_);
        const std::size_t before = ready_;
        while (ready_ < ends_.size() && ends_[ready_] <= count)
            ++ready_;
        if (ready_ == before)
            return;
    }
    changed_.notify_all();
}

void Reducer::finish()
{
    if (!thread_.joinable())
        return reduce(0);
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return done_ == ends_.size() || failure_; });
    if (failure_)
        std::rethrow_exception(failure_);
    ready_ = done_ = 0;
}

void Reducer::reduce(std::size_t bucket)
{
    const std::size_t begin = bucket == 0 ? 0 : ends_[bucket - 1];
    const std::span<float> part = gradients_.subspan(begin, ends_[bucket] - begin);
    group_.sum(part);
    bytes_ += part.size_bytes();
}

void Reducer::serve()
{
    std::unique_lock lock(mutex_);
    for (;;) {
        changed_.wait(lock, [this] { return stop_ || done_ < ready_; });
        if (stop_)
            return;
        const std::size_t next = done_;
        lock.unlock();
        try {
            reduce(next);
        } catch (...) {
            lock.lock();
            failure_ = std::current_exception();
            changed_.notify_all();
            return;
        }
        lock.lock();
        ++done_;
        if (done_ == ends_.size())
            changed_.notify_all();
    }
}

} // namespace trainyard::loop
