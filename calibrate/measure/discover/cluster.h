#pragma once

// The nodes of a job as one topology.

#include "calibrate/measure/discover/node_report.h"

namespace trainyard {

struct DiscoveredCluster {
    std::vector<NodeReport> nodes; // in the order of their first ranks
    ExplicitDescription description;
    Json topology;                    // the topology file
    std::vector<std::string> told;    // which nodes are alike, and how others differ from them
    std::vector<std::string> assumed; // what no node can see

    bool operator==(const DiscoveredCluster&) const = default;
};

// Requires a node. Of several the names must differ. What lies between NICs is not visible from any
// node: it becomes one switch without a limit of its own, which is said.
Checked<DiscoveredCluster> cluster_of(std::vector<NodeReport> nodes);

// What differs between two nodes, whatever their pieces are called; empty: they are of one class.
std::vector<std::string> differences(const NodeReport& usual, const NodeReport& other);

} // namespace trainyard
