#pragma once

// Cluster descriptions without what they say twice.

#include "sim/topology/presets.h"

namespace trainyard {

// The same cluster in fewer words: its node names the preset made for its device, where that
// changes nothing, and leaves out the fields, and the network of its fabric, that say what the
// preset or a default says. Another preset set in its place then brings all that is its own. Rates
// of a cluster without fabric are those that its NICs would have on its usual network. Anything but
// a generated cluster whose node names a preset comes back as it is.
Json without_restated(Json cluster, const Presets& presets);

} // namespace trainyard
