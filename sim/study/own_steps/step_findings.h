#pragma once

// What own steps tell besides the rates: where they contradict what is stated, and which further
// run would tell most.

#include "sim/study/own_steps/rate_fit.h"

namespace trainyard {

struct StepAgreement {
    std::vector<std::size_t> agreeing; // indices; none where the only step contradicts
    std::vector<StepContradiction> contradictions;
};

// Steps more than three standard deviations from what a fit to the others expects contradict, the
// one without which the rest agrees best taken out first; a single step is held against the
// profile. For each the rates are tried one by one, between `most_slow` and twice as fast, with all
// others as the rest of the steps have them; the one that least disagrees with the other steps and
// with what is believed of it explains it.
Checked<StepAgreement> step_agreement(const MeasuredSteps& steps, const RateFit& fit,
                                      RateTrials& trials, const RateFitOptions& options,
                                      const WorkControl& work = {});

// Runs of the first own step with one setting changed (micro-batch, tp, pp, ep, nodes, sequence
// length), as far as they can be and fit, by the share of the variance of `target`'s step that they
// would take away; null: of the variance of the rate that each narrows most. Most telling first.
// Problems are those of the target.
Checked<std::vector<FurtherRun>> further_runs(const MeasuredSteps& steps, const RateFit& fit,
                                              RateTrials& trials, const ScenarioFile* target,
                                              const RateFitOptions& options,
                                              const WorkControl& work = {});

} // namespace trainyard
