#include "sim/strategy/bind/classes.h"
#include "sim/strategy/bind/costs.h"
#include "sim/strategy/bind/folded_traffic.h"
#include "sim/strategy/bind/loader_costs.h"
#include "sim/strategy/bind/rank_conditions.h"
#include "sim/strategy/plan.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <map>
#include <optional>
#include <tuple>

namespace trainyard {

namespace {

// By rank, of 2^20.
std::vector<std::uint32_t> speeds(std::size_t ranks, const Conditions& conditions)
{
    std::vector<std::uint32_t> scales(ranks, full_share);
    for (const auto& [device, slowdown] : conditions.slowdown)
        if (device.value < ranks)
            scales[device.value] =
                static_cast<std::uint32_t>(std::lround(slowdown * static_cast<double>(full_share)));
    return scales;
}

// What the rank's slots multiply: its speed, and with it its experts' part of the tokens against
// the fullest rank's, for which the program is written.
std::vector<std::vector<std::uint32_t>> scales_of(const Program& program, const Job& job,
                                                  const std::vector<std::uint32_t>& speeds)
{
    std::vector<std::vector<std::uint32_t>> scales;
    for (const std::uint32_t speed : speeds)
        scales.push_back({speed});
    if (program.scale_slots == 1)
        return scales;
    const RankLayout layout(job);
    const std::vector<double> loads = expert_loads(job.strategy.experts, job.strategy.ep);
    const double fullest = std::ranges::max(loads);
    for (std::uint32_t rank = 0; rank < scales.size(); ++rank) {
        const auto number = static_cast<std::size_t>(layout.expert_rank(RankId{rank}));
        scales[rank].push_back(
            static_cast<std::uint32_t>(std::lround(speeds[rank] * loads[number] / fullest)));
    }
    return scales;
}

// What a rank does, how fast and under which conditions, as one number per distinct triple.
std::vector<std::uint32_t> colours(const Neighbourhood& neighbourhood,
                                   const std::vector<std::vector<std::uint32_t>>& scales,
                                   const std::vector<std::uint32_t>& conditions)
{
    std::map<std::tuple<RoleId, std::vector<std::uint32_t>, std::uint32_t>, std::uint32_t> numbers;
    std::vector<std::uint32_t> out;
    for (std::size_t rank = 0; rank < scales.size(); ++rank) {
        const auto next = static_cast<std::uint32_t>(numbers.size());
        const std::uint32_t condition = conditions.empty() ? 0 : conditions[rank];
        out.push_back(
            numbers.emplace(std::tuple(neighbourhood.role[rank], scales[rank], condition), next)
                .first->second);
    }
    return out;
}

// Groups with lanes for members. Groups of the same classes are one.
class LaneGroups {
public:
    // `traffic`: by class of groups where `classes` has such, else by group; none: no links.
    LaneGroups(const Plan& plan, const Neighbourhood& neighbourhood, const RankClasses& classes,
               RankTraffic* traffic)
        : plan_(plan),
          neighbourhood_(neighbourhood),
          classes_(classes),
          traffic_(traffic),
          ids_(neighbourhood.groups.size())
    {}

    GroupId of(std::size_t slot, RankId rank)
    {
        const std::uint32_t index = neighbourhood_.group_of[slot][rank.value];
        if (index == no_group)
            return GroupId::none();
        GroupId& id = ids_[index];
        if (!id.valid())
            id = add(index);
        return id;
    }
    std::vector<Group> take() && { return std::move(groups_); }

private:
    GroupId add(std::uint32_t index)
    {
        const RankGroup& source = neighbourhood_.groups[index];
        const LaneId first{classes_.class_of[source.members.front().value]};
        const auto found = known_.find({source.slot, first});
        if (found != known_.end())
            return found->second;
        Group group;
        if (traffic_ != nullptr)
            group = std::move(
                traffic_
                    ->groups[classes_.group_class.empty() ? index : classes_.group_class[index]]);
        if (group.members.empty())
            group.members = lanes_of(source);
        const auto id = make_id<GroupId>(groups_.size());
        std::size_t ranks = 0;
        for (const LaneId lane : group.members) {
            known_.emplace(std::pair(source.slot, lane), id);
            ranks += classes_.size[lane.value];
        }
        group.kind = plan_.program.groups[source.slot].kind;
        group.ranks = static_cast<std::uint32_t>(source.members.size());
        group.copies = static_cast<std::uint32_t>(ranks / source.members.size());
        group.variant = source.shape;
        groups_.push_back(std::move(group));
        return id;
    }

    std::vector<LaneId> lanes_of(const RankGroup& source) const
    {
        std::vector<LaneId> lanes;
        for (const RankId member : source.members)
            lanes.push_back(LaneId{classes_.class_of[member.value]});
        std::ranges::sort(lanes);
        lanes.erase(std::unique(lanes.begin(), lanes.end()), lanes.end());
        return lanes;
    }

    const Plan& plan_;
    const Neighbourhood& neighbourhood_;
    const RankClasses& classes_;
    RankTraffic* traffic_;
    std::vector<GroupId> ids_;                                // by group of ranks
    std::map<std::pair<std::size_t, LaneId>, GroupId> known_; // a lane has one group per slot
    std::vector<Group> groups_;
};

std::vector<Peer> lane_peers(const Neighbourhood& neighbourhood, const RankClasses& classes,
                             RankId rank)
{
    std::vector<Peer> peers;
    if (neighbourhood.peers.empty())
        return peers;
    for (const RankPeer& peer : neighbourhood.peers[rank.value])
        peers.push_back({LaneId{classes.class_of[peer.rank.value]}, peer.shape, {}});
    return peers;
}

// Threads of one process take turns at Python's interpreter, kernel by kernel: where all of them
// issue alike, each goes at 1/n of the pace of one alone. Backward is issued by autograd's threads,
// which do without it.
void share_interpreter(CostTable& costs, int threads)
{
    for (const Phase phase : {Phase::forward, Phase::recompute})
        costs.host_per_kernel[static_cast<std::size_t>(phase)] *= threads;
}

// The classes of ranks, and `traffic` folded with them.
RankClasses fold(const Neighbourhood& neighbourhood, const std::vector<std::uint32_t>& colour,
                 std::optional<RankTraffic>& traffic)
{
    RankClasses classes = alike_ranks(neighbourhood, colour, traffic ? &*traffic : nullptr);
    if (!traffic)
        return classes;
    std::optional<RankTraffic> folded = folded_traffic(*traffic, neighbourhood, classes);
    if (!folded)
        return separate_ranks(colour.size());
    traffic = std::move(folded);
    return classes;
}

// Device 0 of a single process serves the others one after the other: no two are alike. Of
// collectives that all go step by step only rings go round the same classes.
bool can_fold(const Job& job, const BindOptions& options)
{
    return options.folding == Folding::replicas && !is_single_process(job) &&
           options.links != LinkDetail::steps;
}

} // namespace

Binding bind(const Plan& plan, const Job& job, const Topology& topology, const CostModel& cost,
             const BindOptions& options)
{
    assert(topology.device_count() >= job.world());
    const bool with_links = options.links != LinkDetail::none;
    const Neighbourhood near =
        neighbourhood(plan.program, job, topology,
                      with_links ? FabricLimit::links : FabricLimit::costs, options.pair_ratio);
    const auto world = static_cast<std::size_t>(job.world());
    const auto scales = scales_of(plan.program, job, speeds(world, options.conditions));
    BoundConditions conditions = bind_conditions(options.conditions, world);

    Binding out;
    out.costs = bind_costs(plan, near, cost, job);
    std::optional<RankTraffic> traffic;
    if (with_links)
        traffic = rank_traffic(plan.program, near, out.costs, options.conditions, topology,
                               options.links);
    const RankClasses classes =
        can_fold(job, options)
            ? fold(near, colours(near, scales, condition_colours(conditions)), traffic)
            : separate_ranks(world);
    if (is_single_process(job))
        share_interpreter(out.costs, job.dp());
    bind_loader(out.costs, plan, job, topology, cost);
    LaneGroups groups(plan, near, classes, traffic ? &*traffic : nullptr);
    out.lanes.reserve(classes.count());
    for (std::size_t c = 0; c < classes.count(); ++c) {
        const RankId rank = classes.first[c];
        Lane lane;
        lane.role = near.role[rank.value];
        lane.rank = rank;
        lane.multiplicity = classes.size[c];
        for (std::size_t slot = 0; slot < plan.program.groups.size(); ++slot)
            lane.groups.push_back(groups.of(slot, rank));
        lane.peers = lane_peers(near, classes, rank);
        for (std::size_t slot = 0; traffic && slot < lane.peers.size(); ++slot)
            lane.peers[slot].links = std::move(traffic->messages[c][slot]);
        lane.scales = scales[rank.value];
        apply(conditions, lane);
        out.lanes.push_back(std::move(lane));
    }
    out.groups = std::move(groups).take();
    out.jitters = std::move(conditions.jitters);
    for (const std::uint32_t lane : classes.class_of)
        out.lane_of.push_back(LaneId{lane});
    if (traffic) {
        out.links = std::move(traffic->capacities);
        out.link_windows = std::move(traffic->windows);
        out.link_of = classes.link_of;
    }
    return out;
}

} // namespace trainyard
