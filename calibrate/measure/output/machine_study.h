#pragma once

// What a run says of the machine beside its constants: which link, GPU, switch or rank is slow, and
// what makes the numbers doubtful.

#include "calibrate/measure/discover/cluster.h"
#include "calibrate/measure/discover/compute_verdict.h"
#include "calibrate/measure/discover/verdict.h"
#include "calibrate/measure/samples.h"

namespace trainyard {

struct MachineStudy {
    std::vector<PairMatrix> pairs;
    PairVerdicts slow_pairs;
    std::vector<SlowVerdict> slow_devices; // by what they compute
    std::vector<std::string> stragglers;   // ranks that others wait for
    std::vector<std::string> doubts;       // of the machine, and of the topology against the pairs

    // Something that a user should look at before trusting the machine.
    bool finds_fault() const { return !slow_pairs.slow.empty() || !slow_devices.empty(); }
};

// The pairs as verdicts take them: the first time of each, and those taken later. Devices are
// known by their PCI addresses, where there are none by their ranks' places; hosts that `machine`
// lacks are taken to equal its first.
PairStudy pair_study(const MeasuredRun& run, const std::optional<DiscoveredCluster>& machine);

// Pairs are judged on GPUs and between hosts, devices on GPUs.
MachineStudy study_of(const MeasuredRun& run, const std::optional<DiscoveredCluster>& machine);

// A line per finding; empty: none.
std::string describe(const MachineStudy& study);

} // namespace trainyard
