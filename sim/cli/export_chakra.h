#pragma once

// Chakra execution traces of a scenario's step.

#include "sim/cli/exit_codes.h"
#include "sim/cli/scenario_options.h"

namespace trainyard {

// Writes `folder`, which must not exist: trace.RANK.et of every rank, and comm_group.json. Refuses
// jobs whose traces would be too large.
int export_chakra(const std::string& path, ScenarioOptions options, const std::string& folder);

} // namespace trainyard
