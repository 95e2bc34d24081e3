#pragma once

// The hosts of a run, asked what they are made of.

#include "calibrate/measure/control/coordinator.h"
#include "calibrate/measure/discover/cluster.h"

namespace trainyard {

// Asks the first rank of each host. After communicators were made, so that libraries have told what
// they see. A host that cannot tell is left out and named in `doubts`; nothing where no host is
// left, or the whole makes no topology. Throws RunEnded, Cancelled.
std::optional<DiscoveredCluster> cluster_of(Coordinator& coordinator, int ranks,
                                            std::vector<std::string>& doubts);

} // namespace trainyard
