#pragma once

// The events to come, by time, then target, then version. Nothing is ever removed from the middle;
// an event whose version is no longer its target's is stale and skipped.
//
// PlainQueue is a binary heap. RadixQueue uses that time never goes back: an event lies in the
// bucket of the highest bit in which its time differs from a time gone by, and moves to lower
// buckets as that time comes near (Ahuja et al. 1990). Push and pop cost a constant, whatever is
// pending.

#include "sim/base/quantity.h"

#include <algorithm>
#include <array>
#include <bit>
#include <compare>
#include <cstdint>
#include <queue>
#include <span>
#include <utility>
#include <vector>

namespace trainyard::engine {

struct Event {
    SimTime time{};
    // A stream of a lane, a transfer with `transfer_bit`, or with `window_bit` a lane or a window
    // of a link.
    std::uint32_t target = 0;
    std::uint32_t version = 0;

    friend auto operator<=>(const Event&, const Event&) = default;
};

inline constexpr std::uint32_t transfer_bit = 1U << 31;
inline constexpr std::uint32_t window_bit = 1U << 30; // version 2i: window i begins, 2i+1: ends
inline constexpr std::uint32_t stopping = 0xffffffff; // version: the lane hangs or dies
// Version: the window of a link, by its place in the binding, begins or ends.
inline constexpr std::uint32_t link_changes = 0xfffffffd;
inline constexpr std::uint32_t link_recovers = 0xfffffffe;

class PlainQueue {
public:
    void push(const Event& event) { queue_.push(event); }
    bool empty() const { return queue_.empty(); }
    SimTime advance() { return queue_.top().time; }
    bool due(SimTime now) const { return !queue_.empty() && queue_.top().time == now; }
    Event pop()
    {
        const Event event = queue_.top();
        queue_.pop();
        return event;
    }

private:
    std::priority_queue<Event, std::vector<Event>, std::greater<>> queue_;
};

// The events before the `horizon_` lie sorted in front of the buckets, so that it is known which
// ones come next.
class RadixQueue {
public:
    void push(const Event& event)
    {
        ++size_;
        if (event.time < horizon_)
            insert(event);
        else
            buckets_[bucket_of(event.time)].push_back(event);
    }
    bool empty() const { return size_ == 0; }
    bool due(SimTime now) const { return !front_.empty() && front_.back().time == now; }
    SimTime advance()
    {
        if (front_.empty())
            move_on();
        return front_.back().time;
    }
    Event pop()
    {
        const Event event = front_.back();
        front_.pop_back();
        --size_;
        return event;
    }
    // Whether others lie in front than when last asked.
    bool moved() { return std::exchange(moved_, false); }
    // Those that lie in front, the last first.
    std::span<const Event> front() const { return front_; }
    // Those that will next, in no order; none if that is not known.
    std::span<const Event> next() const
    {
        const std::vector<Event>& bucket = buckets_[next_];
        return bucket.size() <= front_size ? std::span(bucket) : std::span<const Event>{};
    }

private:
    static constexpr std::size_t front_size = 64;

    std::size_t bucket_of(SimTime time) const
    {
        return static_cast<std::size_t>(
            std::bit_width(static_cast<std::uint64_t>(time.value() ^ base_.value())));
    }

    // The first bucket becomes the front. One of too many events first spreads over those below.
    void move_on()
    {
        for (;;) {
            std::size_t bucket = 0;
            while (buckets_[bucket].empty())
                ++bucket;
            std::vector<Event>& first = buckets_[bucket];
            base_ = std::min_element(first.begin(), first.end())->time;
            if (bucket == 0 || first.size() <= front_size) {
                horizon_ = SimTime(((base_.value() >> bucket) + 1) << bucket);
                front_.swap(first);
                std::sort(front_.begin(), front_.end(), std::greater<>());
                moved_ = true;
                next_ = bucket;
                while (next_ + 1 < buckets_.size() && buckets_[next_].empty())
                    ++next_;
                return;
            }
            for (const Event& event : first)
                buckets_[bucket_of(event.time)].push_back(event);
            first.clear();
        }
    }

    void insert(const Event& event)
    {
        if (front_.size() >= 2 * front_size)
            shorten();
        if (event.time >= horizon_)
            return buckets_[bucket_of(event.time)].push_back(event);
        front_.insert(std::upper_bound(front_.begin(), front_.end(), event, std::greater<>()),
                      event);
    }

    // The later half goes back to the buckets; events of one time stay together.
    void shorten()
    {
        const SimTime middle = front_[front_.size() / 2].time;
        if (middle == front_.back().time)
            return;
        const auto end = std::find_if(front_.begin(), front_.end(),
                                      [&](const Event& event) { return event.time < middle; });
        for (auto event = front_.begin(); event != end; ++event)
            buckets_[bucket_of(event->time)].push_back(*event);
        front_.erase(front_.begin(), end);
        horizon_ = middle;
    }

    SimTime base_{}; // of the buckets: the first event when they were last looked at
    SimTime horizon_{1};
    std::array<std::vector<Event>, 65> buckets_;
    std::vector<Event> front_; // the last first
    std::size_t size_ = 0;
    std::size_t next_ = 0; // bucket
    bool moved_ = false;
};

enum class QueueKind : std::uint8_t { plain, radix };

// Either of them; the branch is always the same.
class EventQueue {
public:
    explicit EventQueue(QueueKind kind) : radix_(kind == QueueKind::radix) {}

    // Requires event.time >= the time of the last advance.
    void push(const Event& event)
    {
        if (radix_)
            radix_queue_.push(event);
        else
            plain_queue_.push(event);
    }
    bool empty() const { return radix_ ? radix_queue_.empty() : plain_queue_.empty(); }

    // The least time becomes the present, 0 at first. Requires an event.
    SimTime advance() { return radix_ ? radix_queue_.advance() : plain_queue_.advance(); }

    // Whether there are events of the present; the first of them.
    bool due(SimTime now) const { return radix_ ? radix_queue_.due(now) : plain_queue_.due(now); }
    Event pop() { return radix_ ? radix_queue_.pop() : plain_queue_.pop(); }

    // For whoever wants to be prepared: which events come now and which next, and whether others do
    // than when last asked.
    bool has_front() const { return radix_ && !radix_queue_.front().empty(); }
    bool moved() { return radix_queue_.moved(); }
    std::span<const Event> front() const { return radix_queue_.front(); }
    std::span<const Event> next() const { return radix_queue_.next(); }

private:
    bool radix_;
    PlainQueue plain_queue_;
    RadixQueue radix_queue_;
};

} // namespace trainyard::engine
