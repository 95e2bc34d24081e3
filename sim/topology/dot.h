#pragma once

#include "sim/topology/topology.h"

namespace trainyard {

// The cluster as a drawing for Graphviz. With more than `max_nodes` nodes each layer is one box
// with its count: all nodes, all leaf switches, ...
std::string to_dot(const Topology& topology, int max_nodes = 8);

} // namespace trainyard
