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

    // Calls visit(place, owner, event) for each event of one step; `owner` is the use whose
    // micro-batch and layer the tensor belongs to. Stops when visit says false.
    template <class Visit>
    void walk(const Role& role, Visit visit) const;

    // An op that takes, gives back or ends others' waiting.
    struct Entry {
        std::uint32_t op = 0;
        std::uint8_t stream = 0;
        bool releases_stream = false;  // what waits on its stream is given back
        bool releases_all = false;     // what waits on any stream
        bool holds = false;            // its own events at the end wait
        std::uint32_t start_first = 0; // events_[start_first, end_first) at the start,
        std::uint32_t end_first = 0;   // [end_first, end_last) at the end
        std::uint32_t end_last = 0;
    };
    std::span<const Entry> entries(BlockId block) const
    {
        return std::span(entries_).subspan(first_[block.value],
                                           first_[block.value + 1] - first_[block.value]);
    }
    const MemoryEvent& event(std::size_t index) const { return events_[index]; }
    const Program& program() const { return program_; }

private:
    void add_block(const Block& block);

    const Program& program_;
    std::vector<bool> waiting_streams_; // by stream: some op's events at the end wait
    std::vector<std::uint32_t> first_;  // by block, into entries_
    std::vector<Entry> entries_;
    std::vector<MemoryEvent> events_;
};

template <class Visit>
void HostOrder::walk(const Role& role, Visit visit) const
{
    struct Waiting {
        std::uint32_t use = 0;
        std::uint32_t first = 0;
        std::uint32_t last = 0;
    };
    std::vector<std::vector<Waiting>> waiting(program_.streams.size());
    MemoryPlace place;
    bool going = true;
    const auto send = [&](std::uint32_t owner, std::uint32_t first, std::uint32_t last) {
        for (std::uint32_t i = first; going && i < last; ++i)
            going = visit(place, role.order[owner], events_[i]);
    };
    const auto release = [&](std::vector<Waiting>& list) {
        for (const Waiting& w : list)
            send(w.use, w.first, w.last);
        list.clear();
    };
    for (std::uint32_t u = 0; going && u < role.order.size(); ++u) {
        for (const Entry& entry : entries(role.order[u].block)) {
            place = {u, entry.op};
            if (entry.releases_all)
                for (auto& list : waiting)
                    release(list);
            else if (entry.releases_stream)
                release(waiting[entry.stream]);
            send(u, entry.start_first, entry.end_first);
            if (entry.holds)
                waiting[entry.stream].push_back({u, entry.end_first, entry.end_last});
            else
                send(u, entry.end_first, entry.end_last);
            if (!going)
                return;
        }
    }
    for (auto& list : waiting)
        release(list);
}

} // namespace trainyard
