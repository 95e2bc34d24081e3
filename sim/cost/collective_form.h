#pragma once

// The closed form of NCCL's collective times, fitted to 549 published nccl-tests sweeps (V100 to
// GB300, 2 to 1,440 GPUs): T(S) = min over algorithms and protocols of alpha + beta S.
//
// Inside a domain: base + hops; f S over the line rate, f the bus factor of nccl-tests. Across
// domains latencies add and bandwidth terms take the maximum, since chunks are pipelined.
// Mean error in a domain 7 %, left-out sizes and machines 8 %; across domains 8 % above 16 MiB and
// 9 to 18 % below (24 to 30 % for a network left out).

#include "sim/cost/network.h"
#include "sim/topology/group_shape.h"

namespace trainyard {

struct Algorithm; // algorithms/algorithm.h

// NCCL's, in spirit: three lines of which the lowest counts.
enum class Protocol : std::uint8_t { ll, ll128, simple };

// One candidate: alpha + beta x size.
struct TimeLine {
    Seconds alpha;
    double beta = 0;                      // seconds per byte
    const Algorithm* algorithm = nullptr; // none: of a single rank
    Protocol protocol = Protocol::simple;

    Seconds at(Bytes size) const
    {
        return Seconds(alpha.value() + beta * static_cast<double>(size.value()));
    }
};

// The classes that a group's traffic meets.
struct CollectiveClasses {
    const FabricClass* fabric = nullptr;
    const NetworkClass* network = nullptr; // needed when the group spans domains
    const CollectiveForm* form = nullptr;
};

// Each rank has bytes of its own for others, and sends them there directly.
bool is_pairwise(CollectiveKind kind);

// Bus bandwidth factor of nccl-tests: bytes that cross a rank's way out per byte of the buffer in a
// ring. n >= 1.
double bus_factor(CollectiveKind kind, int ranks);

// Line rate inside the domain, per device and direction.
Bandwidth domain_rate(const GroupShape& shape, const FabricClass& fabric);

// What one domain's ranks of the group can push into the network together: NICs used x rate x
// efficiency. Each rank drives the NIC share of its own device, the others' shares serve the
// sibling groups of the same dimension.
Bandwidth network_rate(const GroupShape& shape, const NetworkClass& network);

// What of that rings and trees get, whose channels (32 or fewer in NCCL) leave a domain through a
// NIC each: no more than `max_per_communicator`, however many NICs the domain has. Ranks that
// exchange directly (all-to-all, messages) each open connections of their own through their own
// NIC.
Bandwidth channel_rate(const GroupShape& shape, const NetworkClass& network);

// Candidates for a collective over `shape`; the smallest counts. One rank: a single line of zeros.
// All-to-all and messages on an oversubscribed fabric get the rate that is left above the leaves;
// rings and trees cross each leaf border once per direction, so what they get depends on their
// siblings (GroupShape::fabric_share) and is no matter of this form.
// `asked`: algorithms that NCCL is asked for.
std::vector<TimeLine> time_lines(CollectiveKind kind, const GroupShape& shape,
                                 const CollectiveClasses& classes,
                                 std::span<const Algorithm* const> asked = {});

// The line that is lowest at `size`. Requires a line.
const TimeLine& lowest(const std::vector<TimeLine>& lines, Bytes size);

} // namespace trainyard
