#pragma once

// The record of a machine beside a measurement, of what was found on it.

#include "calibrate/measure/discover/nvml.h"
#include "calibrate/measure/discover/sysfs.h"
#include "sim/cost/machine_record.h"

namespace trainyard {

// `nvml`: null where there are no GPUs, or nothing tells of them.
MachineRecord machine_record(const HostFacts& host, const NvmlNode* nvml);

} // namespace trainyard
