#include "sim/strategy/bind/step_traffic.h"

#include "sim/strategy/bind/role_transfers.h"
#include "sim/strategy/rank_layout.h"
#include "sim/strategy/stages.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace trainyard {

namespace {

// Communicators or pairs that move the same bytes alike.
using Scales = std::vector<std::uint32_t>;
using AlikeKey = std::tuple<Via, std::uint8_t, std::uint32_t, RoleId, Scales>; // slot, variant
struct Alike {
    LaneId first{};          // a lane that takes part
    std::uint64_t ranks = 0; // that its communicators or senders hold
};

class Counting {
public:
    Counting(const Program& program, const Binding& binding, const Job& job,
             const Topology& topology)
        : program_(program),
          binding_(binding),
          topology_(topology),
          layout_(job),
          stages_(is_single_process(job) ? std::vector<std::vector<int>>{}
                                         : neighbours(placement_of(job)))
    {
        for (const Role& role : program.roles)
            requests_.push_back(role_transfers(program, role));
    }

    std::vector<TransferTraffic> count()
    {
        for (std::size_t lane = 0; lane < binding_.lanes.size(); ++lane)
            sort_in(make_id<LaneId>(lane));
        for (const auto& [key, alike] : alike_)
            if (std::get<Via>(key) == Via::group)
                add_group(key, alike);
            else
                add_messages(key, alike);
        return std::move(out_);
    }

private:
    void sort_in(LaneId id)
    {
        const Lane& lane = binding_.lanes[id.value];
        for (std::size_t slot = 0; slot < lane.groups.size(); ++slot) {
            if (!lane.groups[slot].valid())
                continue;
            const Group& group = binding_.groups[lane.groups[slot].value];
            if (group.members.front() != id)
                continue;
            Scales scales = lane.scales;
            std::uint64_t ranks = 0;
            for (const LaneId member : group.members) {
                const Lane& other = binding_.lanes[member.value];
                ranks += other.multiplicity;
                for (std::size_t i = 0; i < scales.size(); ++i)
                    scales[i] = std::max(scales[i], other.scales[i]);
            }
            add({Via::group, static_cast<std::uint8_t>(slot), group.variant, lane.role, scales}, id,
                ranks);
        }
        for (std::size_t slot = 0; slot < lane.peers.size(); ++slot)
            if (lane.peers[slot].lane.valid())
                add({Via::peer, static_cast<std::uint8_t>(slot), lane.peers[slot].variant,
                     lane.role, lane.scales},
                    id, lane.multiplicity);
    }

    void add(AlikeKey key, LaneId lane, std::uint64_t ranks)
    {
        Alike& alike = alike_[std::move(key)];
        if (alike.ranks == 0)
            alike.first = lane;
        alike.ranks += ranks;
    }

    // The rank behind a lane's neighbour, which a folded lane shares with others.
    RankId peer_of(const Lane& lane, std::size_t slot) const
    {
        if (stages_.empty())
            return binding_.lanes[lane.peers[slot].lane.value].rank;
        RankPlace place = layout_.place(lane.rank);
        place.pp = stages_[static_cast<std::size_t>(place.pp)][slot];
        return layout_.rank(place);
    }

    void add_group(const AlikeKey& key, const Alike& alike)
    {
        const auto slot = std::get<1>(key);
        const RankGroup group{
            slot,
            layout_.members(program_.groups[slot].kind, binding_.lanes[alike.first.value].rank), 0};
        const GroupShape shape = group_shape(topology_, devices_of(group.members));
        const auto members = group.members.size();
        add_transfers(key, alike.ranks / members, static_cast<double>(members),
                      [&](TrafficPattern pattern) {
                          return traffic_split(group, shape, pattern, topology_);
                      });
    }

    void add_messages(const AlikeKey& key, const Alike& alike)
    {
        const Lane& lane = binding_.lanes[alike.first.value];
        const TrafficSplit split =
            traffic_split(lane.rank, peer_of(lane, std::get<1>(key)), topology_);
        add_transfers(key, alike.ranks, 1.0, [&](TrafficPattern) { return split; });
    }

    // `split_of(pattern)`: of the representative.
    template <class SplitOf>
    void add_transfers(const AlikeKey& key, std::uint64_t times, double senders,
                       const SplitOf& split_of)
    {
        const auto& [via, slot, variant, role, scales] = key;
        struct Sent {
            double payload = 0; // by each sender
            double bytes = 0;   // by the busiest one
        };
        std::map<std::tuple<CollectiveKind, GroupKind, TrafficPattern>, Sent> found;
        for (const auto& [request, uses] : requests_[role.value]) {
            if (request.via != via || request.slot != slot)
                continue;
            const TransferCost& cost = binding_.costs.transfers[variant][request.cost.value];
            const std::uint32_t scale =
                request.scale.valid() ? scales[request.scale.value] : full_share;
            const double part = static_cast<double>(uses) * scale / full_share;
            Sent& sent = found[{request.collective, request.group, cost.pattern}];
            sent.payload += part * static_cast<double>(cost.bytes.value());
            sent.bytes += part * static_cast<double>(cost.work.value) /
                          static_cast<double>(picoseconds_per_second);
        }
        for (const auto& [what, sent] : found) {
            const auto& [collective, kind, pattern] = what;
            const TrafficSplit split = split_of(pattern);
            out_.push_back({collective,
                            kind,
                            pattern,
                            times,
                            senders * sent.payload,
                            {sent.bytes * split.inside, sent.bytes * split.outside}});
        }
    }

    const Program& program_;
    const Binding& binding_;
    const Topology& topology_;
    RankLayout layout_;
    std::vector<std::vector<int>> stages_; // neighbours by stage
    std::vector<RoleTransfers> requests_;  // by role
    std::map<AlikeKey, Alike> alike_;
    std::vector<TransferTraffic> out_;
};

} // namespace

std::vector<TransferTraffic> step_traffic(const Program& program, const Binding& binding,
                                          const Job& job, const Topology& topology)
{
    return Counting(program, binding, job, topology).count();
}

} // namespace trainyard
