#pragma once

#include "sim/report/timeline/timeline.h"

namespace trainyard {

// The timeline as an <svg> for a page that has the palette. Per lane a row of compute with the
// numbers of micro-batches, below it thinner rows of what its other streams do.
std::string timeline_figure(const Timeline& timeline);

// A picture of its own: palette inside, light and dark. A title when there are no records.
std::string timeline_svg(const Outcome& outcome, const TimelineOptions& options = {});

} // namespace trainyard
