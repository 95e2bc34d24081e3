#pragma once

// The events to come, by time, then target, then version: a binary heap. Nothing is ever removed
// from the middle; an event whose version is no longer its target's is stale and skipped.

#include "sim/base/quantity.h"

#include <compare>
#include <cstdint>
#include <functional>
#include <queue>
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

class EventQueue {
public:
    void push(const Event& event) { queue_.push(event); }
    bool empty() const { return queue_.empty(); }
    // The least time becomes the present. Requires an event.
    SimTime advance() const { return queue_.top().time; }
    // Whether there are events of the present; the first of them.
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

} // namespace trainyard::engine
