#pragma once

// The profile that own steps make: every rate with its interval and source, and what the steps were
// of, so that intervals of like jobs, and of no others, become narrower.

#include "sim/study/own_steps/own_steps.h"
#include "sim/study/prediction.h"

namespace trainyard {

// The whole profile as a file: the base with the solved rates, and its mark, to which earlier own
// steps of the base belong too.
Json own_profile(const MeasuredSteps& steps, const RateFit& fit, const std::string& name);

// What own steps say of a job; nothing where it is not like one of them.
std::optional<OwnEvidence> own_evidence(const OwnStepsMark& mark, const JobClass& job);

} // namespace trainyard
