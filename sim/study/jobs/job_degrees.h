#pragma once

// Sizes of a strategy as the changes of the command line make them.

#include "sim/study/jobs/job_import.h"

namespace trainyard {

// "strategy.tp" as the overrides change it.
int with_changes(int value, std::string_view field, const std::vector<Override>& changes);

} // namespace trainyard
