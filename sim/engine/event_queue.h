#pragma once

// The plain queue: events by time, then target, then version. Nothing is ever removed from the
// middle; an event whose version is no longer its target's is stale and skipped.

#include "sim/base/quantity.h"

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

class EventQueue {
public:
    void push(const Event& event) { queue_.push(event); }
    bool empty() const { return queue_.empty(); }
    SimTime next_time() const { return queue_.top().time; }
    Event pop()
    {
        const Event event = queue_.top();
        queue_.pop();
        return event;
    }

private:
    std::priority_queue<Event, std::vector<Event>, std::greater<>> queue_;
};

} // namespace trainyard::engine
