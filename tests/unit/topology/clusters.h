#pragma once

// Small clusters for the tests of this folder.

#include "sim/topology/cluster.h"
#include "sim/topology/read_topology.h"
#include "tests/support/cluster_text.h"

namespace trainyard::testing {

// A node and a fabric by preset names, as a file would give them. Fails the test when a name is
// wrong.
ClusterDescription cluster(int nodes, const std::string& node, const std::string& network,
                           FabricKind kind);

// Every problem of `text`, as "line pointer: message (hint)".
std::vector<std::string> problems_of(const std::string& text);

inline DeviceId gpu(std::size_t index)
{
    return make_id<DeviceId>(index);
}

// Names of the links of a path.
std::vector<std::string> names(const Topology& topology, const std::vector<LinkId>& path);

} // namespace trainyard::testing
