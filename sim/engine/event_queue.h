#pragma once

// The events to come, by time, then target, then version. Nothing is ever removed from the middle;
// an event whose version is no longer its target's is stale and skipped.
//
// PlainQueue is a binary heap. RadixQueue uses that time never goes back: an event lies in the
// bucket of the highest bit in which its time differs from the present, and moves to lower buckets
// as that time comes near (Ahuja et al. 1990). Push and pop cost a constant, whatever is pending.

#include "sim/base/quantity.h"

#include <algorithm>
#include <array>
#include <bit>
#include <compare>
#include <cstdint>
#include <queue>
#include <vector>

namespace trainyard::engine {

struct Event {
    SimTime time{};
    // A stream of a lane, a transfer with `transfer_bit`, or a lane with `window_bit`.
    std::uint32_t target = 0;
    std::uint32_t version = 0;

    friend auto operator<=>(const Event&, const Event&) = default;
};

inline constexpr std::uint32_t transfer_bit = 1U << 31;
inline constexpr std::uint32_t window_bit = 1U << 30; // version 2i: window i begins, 2i+1: ends
inline constexpr std::uint32_t death = 0xffffffff;    // version: the lane dies

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

// Events of one instant come sorted; those pushed at the present for the present come behind them.
class RadixQueue {
public:
    void push(const Event& event)
    {
        buckets_[bucket_of(event.time)].push_back(event);
        ++size_;
    }
    bool empty() const { return size_ == 0; }
    bool due(SimTime) const { return !present_.empty() || !buckets_[0].empty(); }
    SimTime advance()
    {
        if (!due(now_))
            move_on();
        return now_;
    }
    Event pop()
    {
        if (present_.empty()) {
            present_.swap(buckets_[0]);
            if (present_.size() > 1)
                std::sort(present_.begin(), present_.end(), std::greater<>());
        }
        const Event event = present_.back();
        present_.pop_back();
        --size_;
        return event;
    }

private:
    std::size_t bucket_of(SimTime time) const
    {
        return static_cast<std::size_t>(
            std::bit_width(static_cast<std::uint64_t>(time.value() ^ now_.value())));
    }

    // The least time becomes the present; the events of its bucket spread over those below.
    void move_on()
    {
        const auto first = std::find_if(buckets_.begin(), buckets_.end(),
                                        [](const auto& bucket) { return !bucket.empty(); });
        now_ = std::min_element(first->begin(), first->end())->time;
        for (const Event& event : *first)
            buckets_[bucket_of(event.time)].push_back(event);
        first->clear();
    }

    SimTime now_{};
    std::array<std::vector<Event>, 65> buckets_;
    std::vector<Event> present_; // the last first
    std::size_t size_ = 0;
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

private:
    bool radix_;
    PlainQueue plain_queue_;
    RadixQueue radix_queue_;
};

} // namespace trainyard::engine
