#pragma once

// Which jobs are like one another: own steps narrow the intervals of like jobs alone.

#include "sim/base/field_names.h"
#include "sim/strategy/job.h"
#include "sim/study/scenario.h"

namespace trainyard {

struct JobClass {
    std::string model;
    std::string framework;
    std::string precision;
    int devices = 1;
    std::int64_t sequence_length = 0; // tokens; 0: the model has none
    // What decides how the framework runs it besides: dispatcher of experts, dropped tokens,
    // graphs, fused experts.
    std::string recipe;

    bool operator==(const JobClass&) const = default;
};

template <>
const FieldTable<JobClass>& fields_of<JobClass>();

JobClass job_class(const Scenario& scenario, const Job& job);

// Of one model and recipe (framework, number format, and `recipe`), within 4 times in devices and
// in sequence length.
bool alike(const JobClass& a, const JobClass& b);

} // namespace trainyard
