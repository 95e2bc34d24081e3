#include "tests/support/flaws.h"

#include <fmt/core.h>

#include <algorithm>
#include <set>
#include <utility>

namespace trainyard {

namespace {

constexpr std::size_t most_flaws = 20; // one mistake in a generator repeats for every lane

// What the ops of one role ask of any lane that plays it; each pair once, since lanes are many.
struct Needs {
    std::set<std::pair<GroupSlot, CostId>> collectives;
    std::set<std::pair<PeerSlot, CostId>> parts;
};

class BindingChecker {
public:
    BindingChecker(const Program& program, const Binding& binding)
        : program_(program), binding_(binding)
    {}

    std::vector<std::string> flaws() &&
    {
        check_costs();
        check_jitters();
        check_link_windows();
        for (std::size_t g = 0; g < binding_.groups.size(); ++g)
            check_group(g);
        std::vector<Needs> needs;
        for (const Role& role : program_.roles)
            needs.push_back(needs_of(role));
        for (std::size_t l = 0; l < binding_.lanes.size(); ++l)
            check_lane(l, needs);
        return std::move(flaws_);
    }

private:
    template <class What>
    bool require(bool holds, const What& what)
    {
        if (!holds && flaws_.size() < most_flaws)
            flaws_.push_back(what());
        return holds;
    }

    void check_costs()
    {
        const CostTable& costs = binding_.costs;
        for (const SimTime time : costs.compute)
            require(time.value() >= 0, [] { return "costs: a negative duration"; });
        for (const SimTime time : costs.host_per_kernel)
            require(time.value() >= 0, [] { return "costs: a negative host time"; });
        for (const auto& variant : costs.transfers)
            for (const TransferCost& cost : variant) {
                require(cost.latency.value() >= 0, [] { return "costs: a negative latency"; });
                require(cost.ceiling.value() > 0 || cost.work.value == 0,
                        [] { return "costs: work without a rate"; });
            }
    }

    void check_group(std::size_t g)
    {
        const Group& group = binding_.groups[g];
        const auto where = [&](std::string_view what) {
            return [g, what] { return fmt::format("group {}: {}", g, what); };
        };
        require(!group.members.empty() && group.members.size() <= group.ranks,
                where("no members, or more than ranks"));
        require(group.variant < binding_.costs.transfers.size(), where("no such cost variant"));
        std::vector<LaneId> sorted = group.members;
        std::sort(sorted.begin(), sorted.end());
        require(std::adjacent_find(sorted.begin(), sorted.end()) == sorted.end(),
                where("a member twice"));
        for (const LaneId member : group.members)
            if (require(member.value < binding_.lanes.size(), where("no such lane"))) {
                const auto& groups = binding_.lanes[member.value].groups;
                require(std::find(groups.begin(), groups.end(), make_id<GroupId>(g)) !=
                            groups.end(),
                        where("a member that has not this group"));
            }
        for (const auto* uses :
             {&group.ring, &group.tree, &group.nvls, &group.all_to_all, &group.neighbours})
            check_links(*uses, where("no such link"));
        check_hops(g);
        members_.push_back(std::move(sorted));
    }

    void check_hops(std::size_t g)
    {
        const Group& group = binding_.groups[g];
        const std::size_t members = group.members.size();
        check_ways(g, group.ring_hops, members);
        check_ways(g, group.neighbour_hops, members);
        check_ways(g, group.pairs, members * members);
        check_ways(g, group.tree_ways, 2 * group.tree_edges.size());
        for (const TreeEdge& edge : group.tree_edges)
            require(edge.child < members && edge.parent < members,
                    [g] { return fmt::format("group {}: an edge to nobody", g); });
        // What leaves single members adds up to what the group puts on its links.
        if (!group.ring_hops.empty())
            require(sum_of(group.ring_hops) == group.ring, [g] {
                return fmt::format("group {}: hops that do not add up to its ring", g);
            });
    }

    void check_ways(std::size_t g, const Ways& ways, std::size_t count)
    {
        if (ways.empty())
            return;
        require(ways.size() == count && std::ranges::is_sorted(ways.ends) &&
                    ways.ends.back() == ways.uses.size(),
                [g] { return fmt::format("group {}: ways missing", g); });
        check_links(ways.uses, [g] { return fmt::format("group {}: no such link", g); });
    }

    template <class What>
    void check_links(const std::vector<LinkUse>& uses, const What& what)
    {
        for (const LinkUse& use : uses)
            require(use.link.value < binding_.links.size(), what);
    }

    Needs needs_of(const Role& role)
    {
        Needs needs;
        for (const BlockUse& use : role.order) {
            const Block& block = program_.blocks[use.block.value];
            for (const Op& op : block.ops) {
                if (op.kind == OpKind::collective)
                    needs.collectives.emplace(op.group, op.cost);
                else if (op.kind != OpKind::exchange)
                    require(op.cost.value < binding_.costs.compute.size(), [&] {
                        return fmt::format("block \"{}\": no cost {}", block.name, op.cost.value);
                    });
                for (std::size_t i = 0; i < op.part_count; ++i) {
                    const ExchangePart& part = block.parts[op.part_first + i];
                    needs.parts.emplace(part.peer, part.cost);
                }
            }
        }
        return needs;
    }

    void check_lane(std::size_t l, const std::vector<Needs>& needs)
    {
        const Lane& lane = binding_.lanes[l];
        const auto where = [&](std::string_view what) {
            return [l, what] { return fmt::format("lane {}: {}", l, what); };
        };
        if (!require(lane.role.value < program_.roles.size(), where("no such role")))
            return;
        require(lane.multiplicity > 0, where("stands for no rank"));
        require(lane.start.value() >= 0, where("starts before time 0"));
        require(lane.stop.at.value() >= 0, where("stops before time 0"));
        check_conditions(l);
        const bool complete =
            require(lane.groups.size() == program_.groups.size(), where("group slots missing")) &&
            require(lane.peers.size() == program_.peer_slots, where("peer slots missing")) &&
            require(lane.scales.size() == program_.scale_slots, where("scale slots missing"));
        if (!complete)
            return;
        check_groups_of(l, where("a group that does not count it as a member"));
        for (const Peer& peer : lane.peers)
            check_links(peer.links, where("no such link"));
        for (const auto& [slot, cost] : needs[lane.role.value].collectives) {
            const GroupId group = lane.groups[slot.value];
            if (require(group.value < binding_.groups.size(), where("a collective has no group")))
                require(has_cost(binding_.groups[group.value].variant, cost),
                        where("a collective has no cost"));
        }
        for (const auto& [slot, cost] : needs[lane.role.value].parts) {
            const Peer& peer = lane.peers[slot.value];
            if (require(peer.lane.value < binding_.lanes.size() && peer.lane.value != l,
                        where("an exchange has no neighbour")))
                require(has_cost(peer.variant, cost), where("an exchange has no cost"));
        }
    }

    void check_conditions(std::size_t l)
    {
        const Lane& lane = binding_.lanes[l];
        const auto where = [&](std::string_view what) {
            return [l, what] { return fmt::format("lane {}: {}", l, what); };
        };
        SimTime last{};
        for (const SpeedWindow& window : lane.windows) {
            require(window.begin >= last && window.begin < window.end,
                    where("windows overlap, or one ends before it begins"));
            require(window.speed > 0 && window.speed <= full_share,
                    where("a window without speed, or faster than usual"));
            last = window.end;
        }
        for (const auto* late : {&lane.late, &lane.late_input})
            for (const SimTime time : *late)
                require(time.value() >= 0, where("early by a negative lateness"));
        if (lane.jitter.valid())
            require(lane.jitter.value < binding_.jitters.size(), where("no such jitter"));
    }

    void check_jitters()
    {
        for (const Jitter& jitter : binding_.jitters) {
            require(jitter.factors.size() == 2 * jitter_edges,
                    [] { return "jitter: edges missing"; });
            for (const std::uint32_t factor : jitter.factors)
                require(factor <= most_jitter, [] { return "jitter: a factor out of range"; });
        }
    }

    void check_link_windows()
    {
        for (const LinkWindow& window : binding_.link_windows) {
            require(window.link.value < binding_.links.size(),
                    [] { return "link window: no such link"; });
            require(window.begin < window.end, [] { return "link window: ends as it begins"; });
        }
        require(std::ranges::is_sorted(binding_.link_windows, {}, &LinkWindow::begin),
                [] { return "link windows: not by begin"; });
        require(binding_.link_of.empty() || binding_.link_of.size() == binding_.links.size(),
                [] { return "not every link has one that stands for it"; });
    }

    template <class What>
    void check_groups_of(std::size_t l, const What& what)
    {
        const LaneId lane = make_id<LaneId>(l);
        for (const GroupId group : binding_.lanes[l].groups)
            if (group.valid())
                require(group.value < members_.size() &&
                            std::binary_search(members_[group.value].begin(),
                                               members_[group.value].end(), lane),
                        what);
    }

    bool has_cost(std::uint32_t variant, CostId cost) const
    {
        const auto& transfers = binding_.costs.transfers;
        return variant < transfers.size() && cost.value < transfers[variant].size();
    }

    const Program& program_;
    const Binding& binding_;
    std::vector<std::vector<LaneId>> members_; // sorted, by GroupId
    std::vector<std::string> flaws_;
};

} // namespace

std::vector<std::string> flaws(const Program& program, const Binding& binding)
{
    return BindingChecker(program, binding).flaws();
}

} // namespace trainyard
