#pragma once

// A block under construction whose ops wait for one another by index: events are made where someone
// waits.

#include "sim/program/builder.h"

namespace trainyard {

class BlockDraft {
public:
    // The first `bound` local events belong to the caller, who says at each use what they are.
    BlockDraft(std::string name, std::uint16_t bound);

    std::size_t add(const Op& op);
    // An op waits for an earlier one of another stream; twice is once, and the own stream's order
    // needs no event.
    void wait_for(std::size_t op, std::size_t earlier);
    void wait_for(std::size_t op, LocalEvent event);

    // The op's event, made at the first call.
    LocalEvent event_of(std::size_t op);
    // The op records one of the caller's events; who waited for its own now waits for that.
    void record(std::size_t op, LocalEvent event);

    Op& op(std::size_t index) { return entries_[index].op; }
    std::size_t size() const { return entries_.size(); }

    Block build() &&;

private:
    struct Entry {
        Op op;
        std::vector<LocalEvent> waits;
    };

    std::string name_;
    std::uint16_t bound_;
    std::uint16_t events_;
    std::vector<Entry> entries_;
};

} // namespace trainyard
