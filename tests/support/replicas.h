#pragma once

// Many lanes that play one role each: replicas of a binding side by side, each with numbers of its
// own.

#include "sim/base/random.h"
#include "sim/program/binding.h"

namespace trainyard::test {

class Replicator {
public:
    Replicator(const Binding& one, std::uint32_t copies, std::uint64_t seed)
        : one_(one), copies_(copies), random_(hash_key(seed, 2))
    {}

    // Lane l of replica r is l x copies + r. Some groups join their members of all replicas.
    Binding replicate()
    {
        Binding all = one_;
        all.lanes.clear();
        all.groups.clear();
        all.costs.transfers.push_back(all.costs.transfers[0]); // a second shape, the same numbers
        for (const Lane& lane : one_.lanes)
            for (std::uint32_t r = 0; r < copies_; ++r)
                all.lanes.push_back(copy_of(lane, all.lanes.size(), r));
        for (std::uint32_t g = 0; g < one_.groups.size(); ++g)
            add_groups(g, all);
        return all;
    }

private:
    bool chance(double p) { return random_.uniform() < p; }

    Lane copy_of(Lane lane, std::size_t index, std::uint32_t replica)
    {
        lane.rank = make_id<RankId>(index);
        for (Peer& peer : lane.peers)
            if (peer.lane.valid())
                peer.lane = LaneId{peer.lane.value * copies_ + replica};
        for (GroupId& group : lane.groups)
            group = GroupId::none();
        if (chance(0.7))
            lane.scales[0] = static_cast<std::uint32_t>(random_.integer(0, 2 * full_share));
        if (chance(0.2))
            lane.start = SimTime(random_.integer(0, 100));
        for (std::vector<SimTime>* late : {&lane.late, &lane.late_input})
            for (SimTime& time : *late)
                time = SimTime(random_.integer(0, 100));
        return lane;
    }

    void add_groups(std::uint32_t g, Binding& all)
    {
        const bool joined = chance(0.4);
        for (std::uint32_t r = 0; r < (joined ? 1 : copies_); ++r) {
            Group group = one_.groups[g];
            group.members.clear();
            for (const LaneId member : one_.groups[g].members)
                for (std::uint32_t of = joined ? 0 : r; of < (joined ? copies_ : r + 1); ++of)
                    group.members.push_back(LaneId{member.value * copies_ + of});
            group.ranks = static_cast<std::uint32_t>(group.members.size());
            group.variant = chance(0.3) ? 1 : 0;
            for (const LaneId member : group.members) {
                const Lane& from = one_.lanes[member.value / copies_];
                for (std::size_t s = 0; s < from.groups.size(); ++s)
                    if (from.groups[s] == GroupId{g})
                        all.lanes[member.value].groups[s] = make_id<GroupId>(all.groups.size());
            }
            all.groups.push_back(std::move(group));
        }
    }

    const Binding& one_;
    std::uint32_t copies_;
    Random random_;
};

} // namespace trainyard::test
