#pragma once

// StepErrors of measured runs.

#include "sim/study/accuracy/step_errors.h"

namespace trainyard {

// A run that was predicted, and how far off.
struct JudgedRun {
    JobTraits traits;
    std::string id;
    std::string source; // publication
    double error = 0;   // log(predicted / measured)
    std::string group;  // as group_of names it
};

// Publication, GPU, model and format: runs that agree in them have causes of error in common.
std::string group_of(const std::string& source, const JobTraits& traits);

// Errors of runs by fits that did not see their source, by the runs' ids.
using LeftOutErrors = std::map<std::string, double>;

// Shares of runs inside the intervals that the other groups give.
struct Coverage {
    double by_group = 0; // mean over groups of the share of their runs
    double by_run = 0;

    bool operator==(const Coverage&) const = default;
};

// The same by class of models.
struct ClassCoverage {
    ModelClass model_class = ModelClass::dense;
    int groups = 0;
    int runs = 0;
    std::optional<Coverage> left_out; // nothing: too few groups

    bool operator==(const ClassCoverage&) const = default;
};

// Of the runs, with errors as of fits that did not see them: those of a group move by what its
// left-out runs moved by on average (a fit to others moves constants, so runs alike move alike),
// those of a group without by what its publication's and class's did; with no left-out runs at all,
// errors are larger by `before`'s optimism.
std::vector<JudgedRun> as_left_out(std::span<const JudgedRun> runs, const LeftOutErrors& left_out,
                                   const StepErrors& before);

// What left-out runs' errors are larger by on average, groups alike, by class; at least 1. Classes
// without left-out runs keep what `before` says.
std::vector<FitOptimism> optimism_of(std::span<const JudgedRun> runs, const LeftOutErrors& left_out,
                                     const StepErrors& before);

// `runs`: errors in sample, which pairs are made of: what a fit moves, it moves in both of a pair.
// Classes with too few groups are pooled with others: hybrids with mixtures, then all together.
// Nothing where even these are fewer than 9.
std::optional<StepErrors> calibrated(std::span<const JudgedRun> runs, const LeftOutErrors& left_out,
                                     const StepErrors& before);

// `runs`: of peaks of memory. Their errors are those of the model as it is, for no constant is
// fitted to them. Of fewer than 9 groups intervals hold less than nine in ten: n / (n + 1), the
// most that n groups can tell of another; nothing where all runs together are of fewer than 4.
std::optional<PeakErrors> calibrated_peaks(std::span<const JudgedRun> runs);

// Whole groups left out one at a time.
std::vector<ClassCoverage> coverage_of(std::span<const JudgedRun> left_out_runs);

} // namespace trainyard
