#pragma once

// The profile that own steps make: every rate with its interval and source, and what the steps were
// of, so that intervals of like jobs, and of no others, become narrower.

#include "sim/study/own_steps/own_steps.h"
#include "sim/study/prediction.h"

namespace trainyard {

// "own_steps" of a profile.
struct OwnStepsMark {
    std::string base;             // profile whose rates were the prior
    std::vector<std::string> ids; // of the steps
    std::vector<JobClass> jobs;   // what they were of, without repeats
    double unexplained = 0;       // standard deviation of a step's logarithm that no rate explains
    double reach = 0;             // log(high / value) of a like job's 90 % interval

    bool operator==(const OwnStepsMark&) const = default;
};

template <>
const FieldTable<OwnStepsMark>& fields_of<OwnStepsMark>();

// The whole profile as a file: the base with the solved rates and its mark.
Json own_profile(const MeasuredSteps& steps, const RateFit& fit, const std::string& name);

// The mark of a profile's file; nothing where it has none. Throws WorldError when the file cannot
// be read.
std::optional<OwnStepsMark> own_steps_mark(const std::string& profile_path);

// What own steps say of a job; nothing where it is not like one of them.
std::optional<OwnEvidence> own_evidence(const OwnStepsMark& mark, const JobClass& job);

} // namespace trainyard
