#pragma once

// What is said about fits: of each sweep, over all of them, and how well the models do that stand
// in where nothing was measured.

#include "calibrate/fit/sweep_fit.h"
#include "sim/cost/profile.h"

namespace trainyard {

// Errors of estimating one group size from two others, a set being one machine's sweeps of one
// collective over several sizes; shares.
struct GroupSizeErrors {
    int ranks = 0;
    int from = 0;
    int and_from = 0;
    int sets = 0;
    double median = 0;
};

// NCCL's own model with two fitted factors, over the sweeps of one generation; shares.
struct PriorErrors {
    std::string generation; // "A100"
    int sweeps = 0;
    double median = 0;
    double raw_median = 0; // without the factors
};

struct FitReport {
    std::vector<SweepFit> fits;
    FitSummary summary;
    std::vector<GroupSizeErrors> group_sizes;
    std::vector<PriorErrors> prior;
};

FitReport report_on(std::span<const Sweep> sweeps);

// The sweeps behind the measured tables of a profile (those with raw samples), out of place first.
std::vector<Sweep> measured_sweeps(const Profile& profile);

// {"sweeps": [{source, collective, ranks, nodes, points, in_sample_mape, loo_mape, flags, ...}],
// "summary": {sweeps, loo_median, loo_p90, ...}}. Errors are shares.
Json to_json(const FitReport& report);

} // namespace trainyard
