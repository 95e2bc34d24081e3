#pragma once

// Rings side by side, one all-reduce each: every hop leaves through a NIC of its own and comes in
// through the next member's.

#include "sim/base/random.h"
#include "sim/program/binding.h"
#include "sim/program/builder.h"

namespace trainyard::test {

struct RingShape {
    std::uint32_t members = 8;
    std::uint32_t rings = 1;
    std::uint32_t per_domain = 1; // members that share a domain: NVLink inside, NICs out of it
    bool uneven = false;          // links up to half as fast
    bool crossed = false;         // in each ring a message shares the NIC of the first member
};

struct RingJob {
    Program program;
    Binding binding;
    std::uint64_t sends = 0; // steps of all members
};

class RingWriter {
public:
    explicit RingWriter(const RingShape& shape) : shape_(shape) {}

    RingJob write() &&
    {
        Program& program = job_.program;
        add_stream(program, {"host", StreamKind::host});
        const StreamId stream = add_stream(program, {"dp", StreamKind::communication});
        const StreamId pass = add_stream(program, {"pp", StreamKind::communication});
        const GroupSlot dp = add_group_slot(program, GroupKind::dp);
        program.peer_slots = 1;
        write_costs();
        Op sum{.kind = OpKind::collective,
               .stream = stream,
               .group = dp,
               .label = label_id(program, {"sum", Phase::gradient_sync, CollectiveKind::all_reduce,
                                           GroupKind::dp}),
               .cost = CostId{0}};
        const LabelId message = label_id(
            program, {"pass", Phase::forward, CollectiveKind::send_receive, GroupKind::pp});
        // Roles: of the ring; who sends besides; who only receives.
        for (const auto& [in_ring, direction] :
             {std::pair(true, 0), std::pair(true, 1), std::pair(false, 2)})
        {
            BlockBuilder block("step");
            if (in_ring)
                block.op(sum);
            if (direction > 0)
                block.op({.kind = OpKind::exchange, .stream = pass, .label = message})
                    .part({direction == 1 ? Direction::send : Direction::receive, PeerSlot{0}, 0,
                           CostId{1}});
            RoleBuilder role("role");
            role.use(add_block(program, std::move(block).build()), {});
            add_role(program, std::move(role).build());
        }
        for (std::uint32_t ring = 0; ring < shape_.rings; ++ring)
            add_ring();
        return std::move(job_);
    }

private:
    static constexpr std::uint64_t nic_rate = 50'000'000'000;

    void write_costs()
    {
        job_.binding.costs.transfers.resize(1);
        const std::int64_t rounds = 2 * (std::int64_t{shape_.members} - 1);
        for (const std::int64_t moving : {rounds * 5'000'000, rounds * 500'000}) {
            TransferCost cost;
            cost.latency = SimTime(rounds * 1000);
            cost.ceiling = ByteRate(nic_rate - nic_rate / 10);
            cost.work = work_done(cost.ceiling, SimTime(moving));
            cost.bytes = Bytes(1U << 30);
            job_.binding.costs.transfers[0].push_back(cost);
        }
    }

    LinkId add_link(std::uint64_t rate)
    {
        if (shape_.uneven)
            rate -=
                static_cast<std::uint64_t>(random_.integer(0, static_cast<std::int64_t>(rate / 2)));
        job_.binding.links.push_back(ByteRate(rate));
        return make_id<LinkId>(job_.binding.links.size() - 1);
    }

    void add_ring()
    {
        Binding& binding = job_.binding;
        const auto first = static_cast<std::uint32_t>(binding.lanes.size());
        const GroupId id = make_id<GroupId>(binding.groups.size());
        Group group;
        group.kind = GroupKind::dp;
        group.ranks = shape_.members;
        std::vector<std::array<LinkId, 4>> ports; // NIC out, in, NVLink out, in
        for (std::uint32_t i = 0; i < shape_.members; ++i) {
            ports.push_back({add_link(nic_rate), add_link(nic_rate), add_link(9 * nic_rate),
                             add_link(9 * nic_rate)});
            group.members.push_back(LaneId{first + i});
            add_lane(RoleId{shape_.crossed && i == 0 ? 1U : 0U}, id);
        }
        for (std::uint32_t i = 0; i < shape_.members; ++i)
            group.ring_hops.add(hop(ports, i));
        group.ring = sum_of(group.ring_hops);
        binding.groups.push_back(std::move(group));
        job_.sends += std::uint64_t{shape_.members} * 2 * (shape_.members - 1);
        if (!shape_.crossed)
            return;
        add_lane(RoleId{2}, GroupId::none());
        const auto receiver = static_cast<std::uint32_t>(binding.lanes.size() - 1);
        binding.lanes[first].peers[0] = {LaneId{receiver}, 0, {{ports[0][0]}}};
        binding.lanes[receiver].peers[0] = {LaneId{first}, 0, {}};
    }

    // With k members per domain 1/k of a member's bytes leaves it.
    std::vector<LinkUse> hop(const std::vector<std::array<LinkId, 4>>& ports, std::uint32_t i) const
    {
        const std::uint32_t k = shape_.per_domain;
        const std::uint32_t out = (1U << 16) / k;
        const std::uint32_t beside = i / k * k + (i + 1) % k;
        std::vector<LinkUse> uses{{ports[i][0], out}, {ports[(i + k) % shape_.members][1], out}};
        if (k > 1) {
            uses.push_back({ports[i][2], (1U << 16) - out});
            uses.push_back({ports[beside][3], (1U << 16) - out});
        }
        return uses;
    }

    void add_lane(RoleId role, GroupId group)
    {
        Lane lane;
        lane.role = role;
        lane.rank = make_id<RankId>(job_.binding.lanes.size());
        lane.groups = {group};
        lane.peers.resize(1);
        job_.binding.lanes.push_back(std::move(lane));
    }

    RingShape shape_;
    RingJob job_;
    Random random_{1};
};

inline RingJob ring_job(const RingShape& shape)
{
    return RingWriter(shape).write();
}

} // namespace trainyard::test
