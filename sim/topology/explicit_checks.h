#pragma once

// What is wrong with an explicit description beyond the ranges of its fields.

#include "sim/topology/cluster.h"
#include "sim/topology/explicit_description.h"

namespace trainyard {

std::vector<ClusterFlaw> flaws(const ExplicitDescription& description);

// Requires a description without flaws of severity error.
Topology make_explicit(const ExplicitDescription& description);

} // namespace trainyard
