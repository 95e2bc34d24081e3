#pragma once

// Does the discovered topology agree with what was measured on it?

#include "calibrate/measure/discover/verdict.h"
#include "sim/topology/topology.h"

namespace trainyard {

// Classes whose median is beyond what the graph's narrowest link carries (a missing link or lane),
// or below half of it (traffic goes another way, or a link is worse than the graph says); classes
// that are slower than one farther away. Ranks are the topology's devices in order; pairs beyond
// them are left out.
std::vector<std::string> graph_doubts(const PairStudy& study, const Topology& topology);

} // namespace trainyard
