#pragma once

// How a scenario's constants time the collectives that its job runs, over sizes.

#include "sim/study/outcome.h"

namespace trainyard {

struct CollectiveCurve {
    GroupKind group = GroupKind::world;
    KnotTable table;   // at powers of two from 1 KiB to 1 GiB, in a training step
    std::string basis; // "closed form: ..." or "the profile's table, published"
};

// One for each collective and kind of group of the step, in the order of its totals; of a kind's
// groups that of its first rank. Intervals are the values themselves; grade and source are those
// of the profile's table, where there is one. Pipelines' messages are those
// of neighbouring stages. Barriers, which have no size, are left out.
std::vector<CollectiveCurve> collective_curves(const Outcome& outcome);

} // namespace trainyard
