#pragma once

#include "sim/study/training/published_run.h"
#include "sim/study/validate.h"

namespace trainyard {

class Session;

// Gives the run a scenario of its own, in which what it leaves open is the quickest that fits,
// where one value as good as another will not do: the micro-batch of FSDP without a pipeline, which
// gathers its parameters for each, the virtual stages of a pipeline that would idle for more than a
// quarter of its work, and recompute with them. Who pays for weeks of training has tuned these.
// Leaves the run as it is where nothing of that is open or nothing fits: the rules for single
// records hold then.
void fill_unstated(PublishedRun& run, Session& session, const ValidateOptions& options);

} // namespace trainyard
