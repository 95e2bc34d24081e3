#pragma once

// The bytes that one step's transfers move, counted from the program and its costs.
//
// Nothing of it depends on how the step went: every fidelity that moves a transfer in the same
// pattern counts the same bytes.

#include "sim/program/binding.h"
#include "sim/strategy/bind/links.h"

namespace trainyard {

// The transfers of one kind that one communicator, or one pair of neighbours, makes in a step.
struct TransferTraffic {
    CollectiveKind collective = CollectiveKind::all_reduce;
    GroupKind group = GroupKind::world;
    TrafficPattern pattern = TrafficPattern::ring;
    std::uint64_t times = 1; // communicators or pairs like it
    double payload = 0;      // sum of S over its transfers and their senders
    TrafficSplit bytes;      // of all its members; host paths and their like are not seen here

    bool operator==(const TransferTraffic&) const = default;
};

// Of all ranks, in the order of the program's slots. What is alike (slot, costs, work of the
// members) is laid on the cluster once: groups of one shape split alike.
std::vector<TransferTraffic> step_traffic(const Program& program, const Binding& binding,
                                          const Job& job, const Topology& topology);

} // namespace trainyard
