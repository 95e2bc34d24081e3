#pragma once

// How much transfers of different kinds, at once, would put on the links between switches.
//
// Costs know what an oversubscribed fabric leaves to all groups of one kind (fabric_share.h). Kinds
// that go beside each other on streams of their own share links in the engine only, and there in
// fidelities above alpha-beta.

#include "sim/cost/cost_model.h"
#include "sim/strategy/plan.h"

#include <optional>

namespace trainyard {

// What one kind of transfer asks of a trunk while all its groups (or pairs) communicate, on all the
// streams where it is the largest.
struct TrunkAsk {
    CollectiveKind collective = CollectiveKind::all_reduce;
    GroupKind group = GroupKind::world;
    double share = 0; // of the trunk's capacity

    bool operator==(const TrunkAsk&) const = default;
};

struct FabricDemand {
    std::string layer;               // "leaf to spine"
    double share = 0;                // of the trunk's capacity, by all asks together
    std::vector<TrunkAsk> asks = {}; // the largest first
    // Of the trunk of which it is most: what one kind of pairs (messages, all-to-all) would take if
    // it could. The others count what it gets.
    double pair_share = 0;

    bool operator==(const FabricDemand&) const = default;
};

// Of the trunk that is asked for most of its capacity; empty where no trunk has less capacity than
// the NICs below it, or nothing climbs one. At most the NICs' rate over the trunk's, since the NICs
// are shared before. Rings ask for what their siblings leave them, pairs for what their NICs carry.
// Transfers that take longer to begin than to move ask for nothing. Links of a trunk are taken as
// perfectly spread over.
std::optional<FabricDemand> fabric_demand(const Plan& plan, const Job& job,
                                          const Topology& topology, const CostModel& cost);

} // namespace trainyard
