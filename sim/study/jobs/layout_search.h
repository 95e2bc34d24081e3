#pragma once

// Where to look in a space of layouts: families in the order of their rough time, the neighbours of
// the best one, and the others of its family.

#include "sim/study/jobs/layout_trials.h"

namespace trainyard {

// The quickest of the layouts that `trials` finds to fit; nothing where none fits. It may recompute
// fewer layers than any layout of the space, and so be none of the trials.
struct FoundLayout {
    LayoutTrial chosen;
    std::optional<LayoutTrial> next; // the quickest with another strategy
};
std::optional<FoundLayout> search_layouts(const LayoutSpace& space, const LayoutFacts& facts,
                                          LayoutTrials& trials);

} // namespace trainyard
