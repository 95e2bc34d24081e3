#pragma once

#include "calibrate/measure/backend/backend.h"
#include "calibrate/measure/discover/cpu_facts.h"

namespace trainyard {

// What the facts of every back end on CPUs say of the host; the library's name and version are left
// to it.
BackendFacts host_facts(const CpuFacts& cpu, const LaunchPlace& place);

} // namespace trainyard
