#pragma once

// What a profile says of the own steps that it was fitted to, so that intervals of like jobs, and
// of no others, become narrower.

#include "sim/base/field_names.h"

#include <cstdint>
#include <string>
#include <vector>

namespace trainyard {

// What tells jobs apart that predict one another.
struct JobClass {
    std::string model;
    std::string framework;
    std::string precision;
    int devices = 1;
    std::int64_t sequence_length = 0; // tokens; 0: the model has none
    // What decides how the framework runs it besides: dispatcher of experts, dropped tokens,
    // graphs, fused experts.
    std::string recipe;
    // Where these are not stated, names of model and framework tell them.
    std::string software;    // class of software that the framework is
    double parameters = 0;   // of the model
    int layers = 0;          // ...
    std::int64_t hidden = 0; // ...
    // What it is cut by (not into how many), ZeRO stage, kind of recompute; not stated: any.
    std::string layout;

    bool operator==(const JobClass&) const = default;
};

// Of one model (layers, hidden size, parameters to 1 %), software, number format, recipe and
// layout, within 4 times in devices and in sequence length.
bool alike(const JobClass& a, const JobClass& b);

// "own_steps" of a profile.
struct OwnStepsMark {
    std::string base;               // profile whose rates were the prior
    std::vector<std::string> ids;   // of the steps
    std::vector<JobClass> jobs;     // what they were of, without repeats
    std::vector<std::string> rates; // that they solved: names of study/own_steps/own_rates
    double unexplained = 0; // standard deviation of a step's logarithm that no rate explains
    double reach = 0;       // log(high / value) of a like job's 90 % interval

    bool operator==(const OwnStepsMark&) const = default;
};

template <>
const FieldTable<JobClass>& fields_of<JobClass>();
template <>
const FieldTable<OwnStepsMark>& fields_of<OwnStepsMark>();

} // namespace trainyard
