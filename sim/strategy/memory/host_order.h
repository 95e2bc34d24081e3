#pragma once

// A step's memory events in the order in which the host asks for them: what PyTorch's allocator
// sees.
//
// The host allocates and frees when it issues an op, long before the device runs it; stream order
// makes that safe. Work on another stream than compute is the exception: its tensors are given back
// when the host knows it to be done, which is where the next op of that stream is issued, at the
// optimizer, or at the end of the step.

#include "sim/program/program.h"

#include <span>

namespace trainyard {

// Where an event happens: the op of a use that asks for it (where the tensor is given back late,
// the op at which that is noticed).
struct MemoryPlace {
    std::uint32_t use = 0; // of the role
    std::uint32_t op = 0;  // of its block

    bool operator==(const MemoryPlace&) const = default;
};

class HostOrder {
public:
    explicit HostOrder(const Program& program);

    // An op that takes, gives back or ends others' waiting.
    struct Entry {
        std::uint32_t op = 0;
        std::uint8_t stream = 0;
        bool releases_stream = false;  // what waits on its stream is given back
        bool releases_all = false;     // what waits on any stream
        bool holds = false;            // its own events at the end wait
        std::uint32_t start_first = 0; // events [start_first, end_first) at the start,
        std::uint32_t end_first = 0;   // [end_first, end_last) at the end
        std::uint32_t end_last = 0;
    };
    std::span<const Entry> entries(BlockId block) const
    {
        return std::span(entries_).subspan(first_[block.value],
                                           first_[block.value + 1] - first_[block.value]);
    }
    // Is the block part of the optimizer's step?
    bool updates(BlockId block) const { return updates_[block.value]; }
    const MemoryEvent& event(std::size_t index) const { return events_[index]; }
    const Program& program() const { return program_; }

private:
    void add_block(const Block& block);

    const Program& program_;
    std::vector<bool> waiting_streams_; // by stream: some op's events at the end wait
    std::vector<bool> updates_;         // by block
    std::vector<std::uint32_t> first_;  // by block, into entries_
    std::vector<Entry> entries_;
    std::vector<MemoryEvent> events_;
};

// Goes through a step use by use. `order` and `role` must outlive it.
class StepWalk {
public:
    StepWalk(const HostOrder& order, const Role& role)
        : order_(order), role_(role), waiting_(order.program().streams.size())
    {}

    // Calls visit(place, owner, event) for the events of a use; `owner` is the use whose
    // micro-batch and layer the tensor belongs to. Stops, and says false, when visit does.
    template <class Visit>
    bool go(std::uint32_t use, Visit& visit);
    // What still waits at the end of the step.
    template <class Visit>
    bool finish(Visit& visit);
    // All uses.
    template <class Visit>
    void whole(Visit visit);

    // What waits belongs to uses that many places later.
    void shift(std::uint32_t uses)
    {
        for (auto& list : waiting_)
            for (Waiting& waiting : list)
                waiting.use += uses;
    }

private:
    struct Waiting {
        std::uint32_t use = 0;
        std::uint32_t first = 0;
        std::uint32_t last = 0;
    };

    template <class Visit>
    bool send(const Waiting& events, Visit& visit);
    template <class Visit>
    bool release(std::vector<Waiting>& list, Visit& visit);

    const HostOrder& order_;
    const Role& role_;
    std::vector<std::vector<Waiting>> waiting_; // by stream
    MemoryPlace place_;
};

template <class Visit>
bool StepWalk::go(std::uint32_t use, Visit& visit)
{
    for (const HostOrder::Entry& entry : order_.entries(role_.order[use].block)) {
        place_ = {use, entry.op};
        if (entry.releases_all) {
            for (auto& list : waiting_)
                if (!release(list, visit))
                    return false;
        } else if (entry.releases_stream && !release(waiting_[entry.stream], visit))
            return false;
        const std::uint32_t last = entry.holds ? entry.end_first : entry.end_last;
        if (!send({use, entry.start_first, last}, visit))
            return false;
        if (entry.holds)
            waiting_[entry.stream].push_back({use, entry.end_first, entry.end_last});
    }
    return true;
}

template <class Visit>
bool StepWalk::finish(Visit& visit)
{
    for (auto& list : waiting_)
        if (!release(list, visit))
            return false;
    return true;
}

template <class Visit>
void StepWalk::whole(Visit visit)
{
    for (std::uint32_t use = 0; use < role_.order.size(); ++use)
        if (!go(use, visit))
            return;
    finish(visit);
}

template <class Visit>
bool StepWalk::send(const Waiting& events, Visit& visit)
{
    for (std::uint32_t i = events.first; i < events.last; ++i)
        if (!visit(place_, events.use, order_.event(i)))
            return false;
    return true;
}

template <class Visit>
bool StepWalk::release(std::vector<Waiting>& list, Visit& visit)
{
    for (const Waiting& waiting : list)
        if (!send(waiting, visit))
            return false;
    list.clear();
    return true;
}

} // namespace trainyard
