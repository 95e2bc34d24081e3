#pragma once

// What a recorded step says of a profile besides its rates: curves of collectives, and what
// compute loses to transfers beside it.

#include "sim/cost/cost_model.h"
#include "sim/topology/topology.h"
#include "sim/traces/beside_transfers.h"
#include "sim/traces/run_summary.h"

namespace trainyard {

// Sizes of a collective over one shape of group.
struct TracedCurve {
    CollectiveKind collective = CollectiveKind::all_reduce;
    int ranks = 0;
    int domains = 1;
    std::size_t sizes = 0;
    bool bends_other = false; // a sweep that the profile has, else these sizes alone

    bool operator==(const TracedCurve&) const = default;
};

struct TracedLoss {
    std::string constant; // dotted path
    double before = 0;
    double after = 0;
    double low = 0; // of 90 %
    double high = 0;
    std::size_t kernels = 0; // it was told by

    bool operator==(const TracedLoss&) const = default;
};

struct TracedConstants {
    Profile profile;
    std::vector<TracedCurve> curves;
    std::vector<TracedLoss> losses;
    std::vector<std::string> left_out; // what was told but is no value of a constant, for people
};

// The profile with these constants, graded as measured, with intervals and `source`.
//
// Curves: of transfers whose beginning is stated or told by all arrivals, three or more alike, of
// NCCL; medians with the quickest and the ninth tenth, made monotone. A sweep that the profile has
// for the shape is bent to them: between and beyond sizes by their ratios to it.
// Loss: `software.overlap_slowdown` so that the recorded transfers cost what compute lost while
// they moved, or `hardware.interference` where the profile has it measured. What is lost to waiting
// ones stays: several are there at once, and which of them costs what is not told. What leaves a
// constant's range is left out.
TracedConstants traced_constants(const Profile& profile, const RunSummary& run,
                                 const BesideTransfers& beside, const Topology& topology,
                                 const std::string& source);

} // namespace trainyard
