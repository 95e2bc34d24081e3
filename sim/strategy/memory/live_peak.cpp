#include "sim/strategy/memory/live_peak.h"

#include <algorithm>
#include <utility>

namespace trainyard {

namespace {

std::int64_t change_of(const Program& program, const MemoryEvent& event)
{
    const Tensor& tensor = program.tensors[event.tensor.value];
    if (!on_device(tensor.kind))
        return 0;
    return event.action == MemoryAction::allocate ? tensor.bytes : -tensor.bytes;
}

// A stretch of a block between two points where waiting tensors may be given back.
struct Stretch {
    static constexpr int nobody = -1;
    static constexpr int all = -2;

    int releases = nobody; // stream, first
    std::int64_t most = 0; // bytes above those at its begin, at least 0
    std::int64_t net = 0;
    int holds = nobody;    // stream on which `held` waits from its end on
    std::int64_t held = 0; // bytes it will give back
};

class Stretches {
public:
    explicit Stretches(const HostOrder& order)
    {
        for (std::uint32_t b = 0; b < order.program().blocks.size(); ++b) {
            first_.push_back(stretches_.size());
            for (const HostOrder::Entry& entry : order.entries(BlockId{b}))
                add(order, entry);
            open_ = false;
        }
        first_.push_back(stretches_.size());
    }

    std::span<const Stretch> of(BlockId block) const
    {
        return std::span(stretches_)
            .subspan(first_[block.value], first_[block.value + 1] - first_[block.value]);
    }

private:
    void add(const HostOrder& order, const HostOrder::Entry& entry)
    {
        const bool releases = entry.releases_all || entry.releases_stream;
        if (!open_ || releases) {
            stretches_.emplace_back();
            if (releases)
                stretches_.back().releases = entry.releases_all ? Stretch::all : entry.stream;
        }
        Stretch& stretch = stretches_.back();
        const std::uint32_t end = entry.holds ? entry.end_first : entry.end_last;
        for (std::uint32_t i = entry.start_first; i < end; ++i) {
            stretch.net += change_of(order.program(), order.event(i));
            stretch.most = std::max(stretch.most, stretch.net);
        }
        if (entry.holds) {
            stretch.holds = entry.stream;
            for (std::uint32_t i = entry.end_first; i < entry.end_last; ++i)
                stretch.held -= change_of(order.program(), order.event(i));
        }
        open_ = !entry.holds;
    }

    bool open_ = false;
    std::vector<std::size_t> first_;
    std::vector<Stretch> stretches_;
};

// The highest number of bytes above those held always.
std::int64_t most_bytes(const HostOrder& order, const Role& role)
{
    const Stretches stretches(order);
    std::vector<std::int64_t> waiting(order.program().streams.size(), 0);
    std::int64_t live = 0;
    std::int64_t most = 0;
    for (const BlockUse& use : role.order)
        for (const Stretch& stretch : stretches.of(use.block)) {
            if (stretch.releases == Stretch::all)
                for (std::int64_t& bytes : waiting)
                    live -= std::exchange(bytes, 0);
            else if (stretch.releases >= 0)
                live -= std::exchange(waiting[static_cast<std::size_t>(stretch.releases)], 0);
            most = std::max(most, live + stretch.most);
            live += stretch.net;
            if (stretch.holds >= 0)
                waiting[static_cast<std::size_t>(stretch.holds)] += stretch.held;
        }
    return most;
}

} // namespace

LivePeak live_peak(const HostOrder& order, const Role& role)
{
    const Program& program = order.program();
    const std::int64_t most = most_bytes(order, role);
    LivePeak peak;
    peak.bytes = role.static_memory + most;
    peak.tensors.assign(program.tensors.size(), 0);
    for (const auto* list : {&role.held, &role.held_from_update})
        for (const TensorId id : *list)
            ++peak.tensors[id.value];
    if (most == 0)
        return peak;
    std::int64_t live = 0;
    StepWalk(order, role).whole([&](MemoryPlace place, std::uint32_t, const MemoryEvent& event) {
        live += change_of(program, event);
        peak.tensors[event.tensor.value] += event.action == MemoryAction::allocate ? 1 : -1;
        peak.place = place;
        return live < most;
    });
    return peak;
}

KindBytes bytes_by_kind(const Program& program, const std::vector<std::int64_t>& tensors)
{
    KindBytes kinds{};
    for (std::size_t i = 0; i < tensors.size(); ++i) {
        const Tensor& tensor = program.tensors[i];
        kinds[static_cast<std::size_t>(tensor.kind)] += tensors[i] * tensor.bytes;
    }
    return kinds;
}

} // namespace trainyard
