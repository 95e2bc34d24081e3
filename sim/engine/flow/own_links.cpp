#include "sim/engine/flow/own_links.h"

#include <algorithm>
#include <utility>

namespace trainyard::engine {

namespace {

// Ops of one kind of lane that go over the links of one of its slots: the same stream never has two
// of them under way.
struct SlotUse {
    std::uint32_t stream = 0;
    std::uint8_t slot = 0; // of groups, or of peers
    CostId cost{};
    std::uint32_t parts = 1; // at once, of an exchange

    friend auto operator<=>(const SlotUse&, const SlotUse&) = default;
};

struct KindUses {
    std::vector<SlotUse> groups; // by stream
    std::vector<SlotUse> peers;  // sent to
};

void sort_unique(std::vector<SlotUse>& uses)
{
    std::ranges::sort(uses);
    uses.erase(std::unique(uses.begin(), uses.end()), uses.end());
}

KindUses uses_of(const LaneKind& kind)
{
    KindUses uses;
    for (std::uint32_t s = 0; s < kind.streams.size(); ++s)
        for (std::uint32_t i = 0; i < kind.streams[s].op_count; ++i) {
            const FlatOp& op = kind.ops[kind.streams[s].op_first + i];
            if (op.kind == OpKind::collective)
                uses.groups.push_back({s, op.group.value, op.cost});
            for (std::uint32_t p = 0; p < op.part_count; ++p) {
                const PartPlan& part = kind.parts[op.part_first + p];
                if (part.direction == Direction::send)
                    uses.peers.push_back({s, part.peer.value, part.cost, op.part_count});
            }
        }
    sort_unique(uses.groups);
    sort_unique(uses.peers);
    return uses;
}

bool each_once(std::span<const LinkUse> uses)
{
    std::vector<std::uint32_t> links;
    for (const LinkUse& use : uses)
        links.push_back(use.link.value);
    std::ranges::sort(links);
    return std::ranges::adjacent_find(links) == links.end();
}

// The most that all transfers together could ever want of each link, and how many could.
class WorstCase {
public:
    explicit WorstCase(const RunState& run)
        : run_(run),
          wanted_(run.binding.links.size()),
          users_(wanted_.size()),
          most_(wanted_.size()),
          sum_(wanted_.size()),
          changing_(wanted_.size())
    {
        for (const LinkWindow& window : run.binding.link_windows)
            changing_[window.link.value] = true;
        for (const LaneKind& kind : run.compiled.kinds)
            kinds_.push_back(uses_of(kind));
        for (std::uint32_t lane = 0; lane < run.lanes.size(); ++lane)
            add_messages(lane);
        for (std::uint32_t group = 0; group < run.binding.groups.size(); ++group)
            add_collectives(group);
    }

    // Bits by pattern.
    std::uint8_t own_of(std::uint32_t group) const
    {
        unsigned own = 0;
        for_each_use(group, [&](const SlotUse&, const TransferCost& cost) {
            const std::vector<LinkUse>& links = run_.binding.groups[group].uses(cost.pattern);
            const bool alone =
                !links.empty() && std::ranges::all_of(links, [&](const LinkUse& use) {
                    const std::uint32_t link = use.link.value;
                    return users_[link] == 1 && !changing_[link] &&
                           wanted_[link] <= static_cast<u128>(run_.binding.links[link].value())
                                                << 16;
                });
            if (alone && each_once(links))
                own |= 1U << static_cast<unsigned>(cost.pattern);
        });
        return static_cast<std::uint8_t>(own);
    }

private:
    // Calls visit(use, cost) for what the first member issues, by stream: the others issue the
    // same.
    template <class Visit>
    void for_each_use(std::uint32_t group, const Visit& visit) const
    {
        const std::uint32_t lane = run_.binding.groups[group].members.front().value;
        const std::uint32_t variant = run_.binding.groups[group].variant;
        for (const SlotUse& use : kinds_[run_.compiled.lane_kinds[lane]].groups)
            if (run_.group_of(lane, GroupSlot{use.slot}).value == group)
                visit(use, run_.binding.costs.transfers[variant][use.cost.value]);
    }

    // One op may want that much per unit of coefficient; one stream at most what one of its ops
    // does.
    void offer(std::span<const LinkUse> links, u128 wanted)
    {
        for (const LinkUse& use : links)
            sum_[use.link.value] += wanted * use.coefficient;
        for (const LinkUse& use : links) {
            const u128 sum = std::exchange(sum_[use.link.value], 0);
            u128& most = most_[use.link.value];
            if (most == 0 && sum > 0)
                touched_.push_back(use.link.value);
            most = std::max(most, sum);
        }
    }

    void end_of_stream()
    {
        for (const std::uint32_t link : touched_) {
            wanted_[link] += std::exchange(most_[link], 0);
            ++users_[link];
        }
        touched_.clear();
    }

    void add_collectives(std::uint32_t group)
    {
        std::array<std::uint64_t, traffic_patterns> ceilings{};
        std::uint32_t stream = nobody;
        const auto end_of_uses = [&] {
            for (std::size_t p = 0; p < traffic_patterns; ++p)
                if (std::exchange(seen_[p], false))
                    offer(run_.binding.groups[group].uses(static_cast<TrafficPattern>(p)),
                          u128{std::exchange(ceilings[p], 0)} + 1);
            end_of_stream();
        };
        for_each_use(group, [&](const SlotUse& use, const TransferCost& cost) {
            if (use.stream != stream)
                end_of_uses();
            stream = use.stream;
            const auto pattern = static_cast<std::size_t>(cost.pattern);
            seen_[pattern] = true;
            ceilings[pattern] = std::max(ceilings[pattern], cost.ceiling.value());
        });
        end_of_uses();
    }

    void add_messages(std::uint32_t lane)
    {
        std::uint32_t stream = nobody;
        for (const SlotUse& use : kinds_[run_.compiled.lane_kinds[lane]].peers) {
            if (use.stream != stream)
                end_of_stream();
            stream = use.stream;
            const Peer& peer = run_.binding.lanes[lane].peers[use.slot];
            const TransferCost& cost = run_.binding.costs.transfers[peer.variant][use.cost.value];
            offer(peer.links, use.parts * (u128{cost.ceiling.value()} + 1));
        }
        end_of_stream();
    }

    const RunState& run_;
    std::vector<KindUses> kinds_;
    std::vector<u128> wanted_;         // by LinkId: bytes per second x 2^16
    std::vector<std::uint32_t> users_; // by LinkId: streams
    std::vector<u128> most_;           // by LinkId: of one stream
    std::vector<u128> sum_;            // by LinkId: of one op
    std::vector<bool> changing_;       // by LinkId: its capacity does
    std::array<bool, traffic_patterns> seen_{};
    std::vector<std::uint32_t> touched_; // links of one stream
};

} // namespace

OwnLinks::OwnLinks(const RunState& run) : run_(run), moved_(run.binding.groups.size())
{
    const WorstCase worst(run);
    for (std::uint32_t group = 0; group < run.binding.groups.size(); ++group)
        own_.push_back(worst.own_of(group));
}

void OwnLinks::count(GroupId group, TrafficPattern pattern, ByteRate rate, u128 moved)
{
    if (moved == 0) // it was over when the measured step began
        return;
    Moved& sum = moved_[group.value][static_cast<std::size_t>(pattern)];
    sum.work += moved;
    sum.rate = std::max(sum.rate, rate);
}

void OwnLinks::for_each(
    const std::function<void(std::span<const LinkUse>, const Moved&)>& visit) const
{
    for (std::size_t g = 0; g < moved_.size(); ++g)
        for (std::size_t p = 0; p < traffic_patterns; ++p)
            if (moved_[g][p].work > 0)
                visit(run_.binding.groups[g].uses(static_cast<TrafficPattern>(p)), moved_[g][p]);
}

} // namespace trainyard::engine
