#pragma once

// What perturbations leave of the links that a job's ranks use.

#include "sim/study/outcome.h"

namespace trainyard {

std::vector<RankId> all_ranks(const Outcome& outcome);

// The devices of the first two nodes of which any are used; fewer where there are fewer.
std::vector<std::vector<DeviceId>> first_nodes(const Topology& topology);

// Mean share of their line rate that links of this kind have left: of those that a rank's bytes
// take first on its usual way out and last on its way back, to its neighbours and out of its
// domain. 1 on a sound cluster.
double share_left(const Outcome& outcome, LinkKind kind);

// Share of the rate between domains that they leave to the groups (of messages: the pairs) of a
// kind that span several: of n groups n / sum(1 / share), as their times add up. 1 on a sound
// cluster.
double share_left_between_domains(const Outcome& outcome, CollectiveKind collective,
                                  GroupKind group);

// Of the rings of all ranks, run alone.
LinkHealth health_of_world(const Outcome& outcome);

// Of the worst pair of devices of the first two nodes, of which there must be two, while all of
// them exchange messages.
LinkHealth health_between_nodes(const Outcome& outcome);

} // namespace trainyard
