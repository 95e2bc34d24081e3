#include "sim/engine/steps/step_choice.h"

#include "sim/engine/standstill.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

namespace trainyard::engine {

namespace {

// The collectives that lanes of one kind issue in one step, those of one slot, kind and pattern
// together.
struct Issue {
    GroupSlot slot{};
    CollectiveKind collective = CollectiveKind::all_reduce;
    CostId cost{};
    std::uint64_t count = 0;
};

std::vector<Issue> issues_of(const RunState& run, const LaneKind& kind)
{
    std::map<std::tuple<GroupSlot, CollectiveKind, CostId>, std::uint64_t> counts;
    for (const FlatOp& op : kind.ops)
        if (op.kind == OpKind::collective)
            ++counts[{op.group, run.program.labels[op.label.value].collective, op.cost}];
    std::vector<Issue> issues;
    for (const auto& [key, count] : counts)
        issues.push_back({std::get<0>(key), std::get<1>(key), std::get<2>(key), count});
    return issues;
}

// Calls visit(group, issue, cost) for what the first member of each group issues: the others issue
// the same.
template <class Visit>
void for_each_issue(const RunState& run, const Visit& visit)
{
    std::map<const LaneKind*, std::vector<Issue>> known;
    for (std::size_t g = 0; g < run.binding.groups.size(); ++g) {
        const Group& group = run.binding.groups[g];
        const std::uint32_t lane = group.members.front().value;
        const LaneKind& kind = run.kind_of(lane);
        const auto [found, added] = known.try_emplace(&kind);
        if (added)
            found->second = issues_of(run, kind);
        for (const Issue& issue : found->second)
            if (run.group_of(lane, issue.slot) == make_id<GroupId>(g))
                visit(g, issue, run.binding.costs.transfers[group.variant][issue.cost.value]);
    }
}

bool has_ways(const Group& group, StepShape shape)
{
    return shape != StepShape::none && group.ranks > 1 && !ways_of(group, shape).empty();
}

// Who could want more of links than they carry, were all groups to communicate at once.
class Collisions {
public:
    explicit Collisions(const RunState& run)
        : run_(run), wanted_(run.binding.links.size()), most_(run.binding.groups.size())
    {
        for_each_issue(run, [&](std::size_t g, const Issue&, const TransferCost& cost) {
            auto& most = most_[g][static_cast<std::size_t>(cost.pattern)];
            most = std::max(most, cost.ceiling.value());
        });
        for (std::size_t g = 0; g < most_.size(); ++g)
            for (const LinkUse& use : busiest_uses(g))
                wanted_[use.link.value] +=
                    static_cast<u128>(use.coefficient) * (busiest_rate(g) + u128{1});
    }

    bool collides(std::size_t g) const
    {
        return std::ranges::any_of(busiest_uses(g), [&](const LinkUse& use) {
            return wanted_[use.link.value] >
                   static_cast<u128>(run_.binding.links[use.link.value].value()) << 16;
        });
    }

private:
    std::size_t busiest(std::size_t g) const
    {
        return static_cast<std::size_t>(std::ranges::max_element(most_[g]) - most_[g].begin());
    }
    std::uint64_t busiest_rate(std::size_t g) const { return most_[g][busiest(g)]; }
    const std::vector<LinkUse>& busiest_uses(std::size_t g) const
    {
        return run_.binding.groups[g].uses(static_cast<TrafficPattern>(busiest(g)));
    }

    const RunState& run_;
    std::vector<u128> wanted_;                       // by LinkId: bytes per second x 2^16
    std::vector<std::array<std::uint64_t, 5>> most_; // by GroupId and pattern: highest ceiling
};

// By GroupId; empty if all may go step by step.
std::vector<std::uint8_t> colliding_groups(const RunState& run)
{
    const Collisions collisions(run);
    std::vector<std::uint8_t> collides;
    for (std::size_t g = 0; g < run.binding.groups.size(); ++g)
        collides.push_back(collisions.collides(g) ? 1 : 0);
    double steps = 0;
    for_each_issue(run, [&](std::size_t g, const Issue& issue, const TransferCost& cost) {
        const Group& group = run.binding.groups[g];
        const StepShape shape = step_shape(issue.collective, cost.pattern);
        if (collides[g] == 0 || shape != StepShape::ring || !has_ways(group, shape))
            return;
        steps += static_cast<double>(issue.count) * run.steps * group.copies * group.ranks *
                 step_count(shape, issue.collective, group.ranks);
    });
    if (steps <= most_colliding_steps)
        collides.clear();
    return collides;
}

} // namespace

StepChoice::StepChoice(const RunState& run, Fidelity fidelity) : fidelity_(fidelity), run_(run)
{
    if (fidelity == Fidelity::flow)
        collides_ = colliding_groups(run);
}

StepShape StepChoice::shape(GroupId id, CollectiveKind kind, TrafficPattern pattern) const
{
    if (!knows_steps(fidelity_))
        return StepShape::none;
    const StepShape shape = step_shape(kind, pattern);
    if (!has_ways(run_.binding.groups[id.value], shape))
        return StepShape::none;
    const bool opens = fidelity_ == Fidelity::chunk || (shape == StepShape::ring && !collides(id));
    return opens ? shape : StepShape::none;
}

Problems cannot_step(const RunState& run, Fidelity fidelity)
{
    if (!knows_steps(fidelity) || !any_stops(run.binding))
        return {};
    return {{"", 0, "/run/fidelity",
             fmt::format("fidelity {} does not know ranks that hang or die", to_name(fidelity)),
             "bundle and alpha-beta do", Severity::error}};
}

std::vector<WholeCollectives> whole_collectives(const RunState& run, const StepChoice& choice)
{
    if (!knows_steps(choice.fidelity()))
        return {};
    std::set<WholeCollectives> whole;
    for_each_issue(run, [&](std::size_t g, const Issue& issue, const TransferCost& cost) {
        const GroupId id = make_id<GroupId>(g);
        const Group& group = run.binding.groups[g];
        const StepShape shape = choice.shape(id, issue.collective, cost.pattern);
        if (shape != StepShape::none || group.uses(cost.pattern).empty() || cost.work.value == 0)
            return;
        const WholeReason reason = choice.fidelity() == Fidelity::chunk ? WholeReason::lockstep
                                   : step_shape(issue.collective, cost.pattern) == StepShape::ring
                                       ? WholeReason::rings
                                       : WholeReason::pattern;
        whole.insert({issue.collective, group.kind, reason});
    });
    return {whole.begin(), whole.end()};
}

} // namespace trainyard::engine
