#pragma once

// Links by the names that people read.

#include "sim/topology/topology.h"

namespace trainyard {

// Links whose name is `pattern`, with or without the direction behind the blank ("node3/nic2" means
// "node3/nic2 out" and "node3/nic2 in"); "*" stands for any letters. "fabric": all links between
// switches.
std::vector<LinkId> links_matching(std::string_view pattern, const Topology& topology);

// The nearest name for a pattern that matches nothing.
std::string link_name_hint(std::string_view pattern, const Topology& topology);

} // namespace trainyard
