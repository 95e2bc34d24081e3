#pragma once

// What own steps tell besides the rates: where they contradict what is stated, and which further
// run would tell most.

#include "sim/study/own_steps/rate_fit.h"

namespace trainyard {

// A step that no likely rates explain, and the rate that would explain it alone.
struct StepContradiction {
    std::string step;
    double error = 0;       // measured / fitted - 1
    std::size_t rate = 0;   // of own_rates()
    double slower = 1;      // how many times slower that rate would have to be; below 1: faster
    bool explained = false; // else no rate does alone

    bool operator==(const StepContradiction&) const = default;
};

// Steps whose fitted time is more than three standard deviations of the unexplained off, or for
// which a rate left its prior by as many. For each the rates are tried one by one, between 100
// times slower and 4 times faster, with all others as the rest of the steps have them; the one that
// leaves its prior least explains it.
Checked<std::vector<StepContradiction>> step_contradictions(const MeasuredSteps& steps,
                                                            const RateFit& fit, RateTrials& trials,
                                                            const RateFitOptions& options,
                                                            const WorkControl& work = {});

// A run that nobody has measured yet.
struct FurtherRun {
    std::string change;    // "strategy.tp=4", of the first own step
    double predicted = 0;  // s
    double told = 0;       // share of the variance that it would take away
    std::string best_rate; // title of the rate that it narrows most

    bool operator==(const FurtherRun&) const = default;
};

// Runs of the first own step with one setting changed (micro-batch, tp, pp, ep, nodes, sequence
// length), as far as they can be and fit, by the share of the variance of `target`'s step that they
// would take away; null: of the variance of the rate that each narrows most. Most telling first.
// Problems are those of the target.
Checked<std::vector<FurtherRun>> further_runs(const MeasuredSteps& steps, const RateFit& fit,
                                              RateTrials& trials, const ScenarioFile* target,
                                              const RateFitOptions& options,
                                              const WorkControl& work = {});

} // namespace trainyard
