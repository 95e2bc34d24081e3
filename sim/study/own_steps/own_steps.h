#pragma once

// A user's own steps and what they tell, as values: no simulator.

#include "sim/study/accuracy/job_traits.h"
#include "sim/study/own_steps/job_class.h"

#include <span>

namespace trainyard {

struct MeasuredStep {
    std::string id;
    std::string file; // of its record
    int line = 0;
    Seconds measured;
    Seconds predicted; // with the base profile
    ScenarioFile question;
    JobClass job;
    ModelClass model_class = ModelClass::dense;

    // log(measured / predicted)
    double error() const;
};

struct MeasuredSteps {
    std::vector<MeasuredStep> steps;
    Json base;                          // the profile, whole
    std::optional<OwnStepsMark> before; // the base's own
    std::string base_name; // of the profile, or of the shipped parts it was put together from
    std::string device;
    std::string network;
    std::vector<std::string> notes; // assumptions, and records that were left aside
};

// A step near the rates it was simulated at: a sum of parts, of which rate k is that of the share
// s_k, and the rest moves with none:
//
//   T(x) / T(0) = 1 + sum over k of s_k (exp(-x_k) - 1)
//
// with x_k the change of the rate's logarithm and s_k = - d log T / d x_k, which is simulated.
struct StepResponse {
    double log_time = 0; // of T(0) in s
    std::vector<double> shares;

    // log(T(x) / T(0)). No less than a thousandth of the step is left.
    double log_change(std::span<const double> rates) const;
    // d log T / d x at x.
    std::vector<double> slopes(std::span<const double> rates) const;

    bool operator==(const StepResponse&) const = default;
};

// How far the logarithm of each rate may change before a constant of the profile leaves what its
// field holds, such as an efficiency of one. Infinite where nothing ends it.
struct RateLimits {
    std::vector<double> lowest;
    std::vector<double> highest;
};

// Of all own_rates(), in their order.
struct RateFit {
    std::vector<double> changes; // of the logarithms
    RateLimits limits;           // within which they were looked for
    std::vector<double> prior;   // standard deviations before ...
    std::vector<double> spread;  // ... and after
    std::vector<std::vector<double>> covariance;
    std::vector<StepResponse> responses; // of the steps
    std::vector<double> residuals;       // log(measured / fitted) of the steps
    double unexplained = 0;              // what no rate explains, after the steps
    double reach = 0; // of the logarithm of a like job's step: half of its 90 % interval

    // Share of the prior's variance that the steps took away.
    double learnt(std::size_t rate) const;
    // Whether the steps tell of it: a hundredth of the variance or more.
    bool felt(std::size_t rate) const;
    // Whether the steps ask for more than the rate's limits allow.
    bool at_limit(std::size_t rate) const;
};

// A step that no likely rates explain, and the rate that would explain it alone.
struct StepContradiction {
    std::string step;
    double error = 0;       // measured / fitted - 1
    std::size_t rate = 0;   // of own_rates()
    double slower = 1;      // how many times slower that rate would have to be; below 1: faster
    bool explained = false; // else no rate does alone
    bool alone = false;     // held against the profile's rates, for want of other steps

    bool operator==(const StepContradiction&) const = default;
};

// A run that nobody has measured yet.
struct FurtherRun {
    std::string change;    // "strategy.tp=4", of the first own step
    double predicted = 0;  // s
    double told = 0;       // share of the variance that it would take away
    std::string best_rate; // title of the rate that it narrows most

    bool operator==(const FurtherRun&) const = default;
};

} // namespace trainyard
