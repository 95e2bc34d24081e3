#pragma once

// The numbers of a program: how long ops take, who belongs to which group, which links carry what.
//
// Program and Binding are apart so that a what-if changes numbers and keeps the program.

#include "sim/base/exact.h"
#include "sim/program/jitter.h"
#include "sim/program/program.h"

#include <array>
#include <span>
#include <string>
#include <vector>

namespace trainyard {

using LaneId = Id<struct LaneTag>;   // the state of one simulated rank
using GroupId = Id<struct GroupTag>; // one communicator

// A collective or a message: latency, then `work` drains at a granted rate <= ceiling.
//
// The rate is bytes per second leaving the busiest member; alone, the transfer takes latency + work
// / ceiling, which is exactly T(S).
struct TransferCost {
    SimTime latency{};  // after all have arrived, before data flows
    Work work{};        // ceiling x (T(S) - latency)
    ByteRate ceiling{}; // > 0 unless work is 0
    std::uint32_t sm_share =
        0; // of 2^20: lost by compute while the kernel is resident, waiting included
    std::uint32_t traffic_share =
        0; // of 2^20: lost besides while it moves data at the ceiling; in proportion below
    TrafficPattern pattern = TrafficPattern::ring;
    bool eager = false; // a send completes without its receiver
    Bytes bytes{};      // S, for reports

    bool operator==(const TransferCost&) const = default;
};

inline constexpr std::uint32_t endless_queue = 0xffffffff;

struct CostTable {
    std::vector<SimTime> compute{}; // compute, copy and host ops, alone on the device; by CostId
    // [variant][CostId]. A variant is the shape of a group or of a pair of neighbours (members per
    // NVLink domain, rails, ...): groups of one shape share its costs. A variant may leave costs
    // that its groups never ask for at their defaults.
    std::vector<std::vector<TransferCost>> transfers{};
    std::array<SimTime, phase_count> host_per_kernel{}; // to issue one kernel, by Phase
    // Launches that a stream holds behind the op that runs on it: a host that hangs has issued no
    // more.
    std::uint32_t launch_queue = endless_queue;

    bool operator==(const CostTable&) const = default;
};

// Bytes on a link per 2^16 bytes leaving the busiest member.
struct LinkUse {
    LinkId link{};
    std::uint32_t coefficient = 1U << 16;

    bool operator==(const LinkUse&) const = default;
};

// Which links several ways cross, one way after the other.
struct Ways {
    std::vector<LinkUse> uses{};
    std::vector<std::uint32_t> ends{}; // by way: behind its last use

    std::size_t size() const { return ends.size(); }
    bool empty() const { return ends.empty(); }
    std::span<const LinkUse> operator[](std::size_t way) const
    {
        const std::size_t first = way == 0 ? 0 : ends[way - 1];
        return std::span(uses).subspan(first, ends[way] - first);
    }
    void add(std::span<const LinkUse> way)
    {
        uses.insert(uses.end(), way.begin(), way.end());
        ends.push_back(static_cast<std::uint32_t>(uses.size()));
    }

    bool operator==(const Ways&) const = default;
};

// What `ways` put on each link together, by link.
std::vector<LinkUse> sum_of(const Ways& ways);

// An edge of one of a group's trees, between places in `members`: data goes up from the child and
// comes back down.
struct TreeEdge {
    std::uint32_t child = 0;
    std::uint32_t parent = 0;
    std::uint32_t tree = 0;

    bool operator==(const TreeEdge&) const = default;
};

struct Group {
    GroupKind kind = GroupKind::world;
    std::vector<LaneId> members{}; // simulated ones; in a folded binding fewer than `ranks`
    std::uint32_t ranks = 1;       // of the communicator
    std::uint32_t copies = 1;      // communicators that evolve identically
    std::uint32_t variant = 0;     // of its transfer costs: CostTable::transfers[variant]
    // Links of each pattern, the uses of all copies together; empty when no link can be shared, or
    // for a pattern never asked for.
    std::vector<LinkUse> ring{};
    std::vector<LinkUse> tree{};
    std::vector<LinkUse> nvls{};
    std::vector<LinkUse> all_to_all{};
    std::vector<LinkUse> neighbours{};
    // The same member by member, for fidelities that know single steps; else empty. What leaves
    // each member for the next one of `members`, the last one's for the first ...
    Ways ring_hops{};
    Ways neighbour_hops{};
    Ways pairs{}; // ... and for each: from member i to member j is way i x members + j
    std::vector<TreeEdge> tree_edges{};
    Ways tree_ways{}; // up edge e is way 2e, down it 2e + 1

    const std::vector<LinkUse>& uses(TrafficPattern pattern) const;
    bool operator==(const Group&) const = default;
};

// The neighbour a lane sends to or receives from.
struct Peer {
    LaneId lane{};
    std::uint32_t variant = 0; // of the transfer costs; the same seen from both ends
    // Of the path from this lane to the peer, and from all that the lane stands for to theirs.
    std::vector<LinkUse> links{};

    bool operator==(const Peer&) const = default;
};

// A stretch of time in which a lane's compute drains slower: at its granted share x speed / 2^20
// (rounded down, at least 1), in parts of 2^20.
struct SpeedWindow {
    SimTime begin{};
    SimTime end{};                    // the first picosecond behind it; longest_sim_time: never
    std::uint32_t speed = full_share; // > 0, <= 2^20

    bool operator==(const SpeedWindow&) const = default;
};

// A stretch of time in which a link has another capacity than `Binding::links` says.
struct LinkWindow {
    LinkId link{};
    SimTime begin{};
    SimTime end{}; // the first picosecond behind it; longest_sim_time: never
    ByteRate capacity{};

    bool operator==(const LinkWindow&) const = default;
};

enum class StopKind : std::uint8_t {
    hangs, // its host issues nothing more; what it issued goes on, and so do its workers
    dies   // its process is gone: what runs never ends, its transfers move nothing more
};

// From this time on a lane does no more. What ends at the very time has ended.
struct Stop {
    SimTime at = longest_sim_time; // never
    StopKind kind = StopKind::hangs;

    bool ever() const { return at < longest_sim_time; }
    bool operator==(const Stop&) const = default;
};

struct Lane {
    RoleId role{};
    RankId rank{};                       // the one represented (the first of its class when folded)
    std::uint32_t multiplicity = 1;      // ranks that evolve identically
    std::vector<GroupId> groups{};       // by GroupSlot; none when the rank has no such group
    std::vector<Peer> peers{};           // by PeerSlot; lane none when it has no such neighbour
    std::vector<std::uint32_t> scales{}; // by ScaleSlot, of 2^20: 1.08 slower = 1.08 x 2^20
    SimTime start{};                     // when its first step may begin
    std::vector<SpeedWindow> windows{};  // by begin, none overlaps another
    JitterId jitter{};                   // of its compute ops, by `rank`; none: every factor is 1
    // By step, missing ones 0: host time before the host issues its first op of that step.
    std::vector<SimTime> late{};
    // By step, missing ones 0: how much longer the first op of that step on any worker's stream
    // takes.
    std::vector<SimTime> late_input{};
    Stop stop{};

    bool operator==(const Lane&) const = default;
};

struct Binding {
    CostTable costs{};
    std::vector<Group> groups{};
    std::vector<Lane> lanes{};
    std::vector<ByteRate> links{}; // capacities by LinkId; used by fidelities above alpha-beta
    // By LinkId: the link that stands for it, which alone is used; empty where each does so for
    // itself.
    std::vector<LinkId> link_of{};
    std::vector<LinkWindow> link_windows{}; // by begin; of one link none overlaps another
    std::vector<Jitter> jitters{};          // by JitterId
    std::vector<LaneId> lane_of{};          // by rank: the lane that stands for it

    bool operator==(const Binding&) const = default;
};

} // namespace trainyard
