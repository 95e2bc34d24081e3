#pragma once

// The shipped constants of network classes, and of what collectives across domains share, made
// again of published sweeps.

#include "calibrate/fit/network_fit.h"
#include "calibrate/fit/shipped_knots.h"

#include <filesystem>

namespace trainyard {

// The sweeps of the plan's networks with the group each ran on. Fabrics and networks are those of
// the folder of profiles, the classes with the plan's priors.
Checked<std::vector<NetworkSweep>> network_sweeps(const KnotPlan& plan,
                                                  std::span<const Sweep> sweeps,
                                                  const std::filesystem::path& profiles);

// The files of the folder that those sweeps determine ("networks/ib-ndr.json",
// "collectives/nccl.json"): value and interval to three digits, where from; grade `published`, or
// `extrapolated` where the sweeps narrowed a constant's prior by less than a tenth. Other members,
// and classes without sweeps, stay as they are.
Checked<std::map<std::string, Json>> shipped_networks(const KnotPlan& plan,
                                                      std::span<const Sweep> sweeps,
                                                      const std::filesystem::path& profiles);

} // namespace trainyard
