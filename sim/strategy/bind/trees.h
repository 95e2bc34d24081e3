#pragma once

// The trees over which a group sums: NCCL's double binary tree over NVLink domains, a chain inside
// one.

#include "sim/program/binding.h"
#include "sim/topology/topology.h"

#include <span>

namespace trainyard {

// Places in `members`. Between domains each member of a domain has trees of its own, through the
// member at the same place of the other ones (rails); what its domain sends inside goes along with
// it. Complete binary trees of which an inner node of one is a leaf of the other (Sanders et al.
// 2009); the second one is the first, mirrored or, of an odd number of domains, shifted by one.
std::vector<TreeEdge> tree_edges(std::span<const RankId> members, const Topology& topology);

} // namespace trainyard
