#pragma once

#include "calibrate/measure/backend/work.h"

namespace trainyard {

// The work nearest below `work` whose buffers `ranks` ranks can share: whole elements, and as many
// for every rank where the collective deals them out; at least one. Back ends refuse others, so
// that a size that was timed is the size that is written down.
TimedWork fitted(const TimedWork& work, int ranks);

} // namespace trainyard
