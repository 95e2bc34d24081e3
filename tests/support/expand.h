#pragma once

#include "sim/topology/explicit_description.h"
#include "sim/topology/topology.h"

namespace trainyard {

// Every piece and link of a topology written out: the same numbers, names and paths, to edit by
// hand or to break single links of. Grows with the cluster: meant for up to a few thousand devices.
ExplicitDescription expand(const Topology& topology);

} // namespace trainyard
