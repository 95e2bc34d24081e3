#pragma once

// The constants of a fabric class from sweeps inside one domain: what the closed form of
// collectives takes, fitted to published measurements.

#include "calibrate/fit/clean_sweep.h"
#include "sim/cost/network.h"

#include <span>

namespace trainyard {

// A sweep and the link it ran on.
struct FabricSweep {
    const Sweep* sweep = nullptr;
    Bandwidth line_rate;
    bool in_switch = false; // the domain's switch reduces
};

struct FittedConstant {
    std::string path; // in the fabric's file: "base_ll", "efficiency.all_reduce"
    double value = 0; // seconds or a share
    double low = 0;   // 90 % interval
    double high = 0;
};

struct FabricFit {
    std::vector<FittedConstant> constants;
    int sweeps = 0;
    double error = 0; // mean absolute relative error of all points, in sample
};

// Minimises, in the logarithms of the constants c with priors p,
//
//   sum over sweeps of mean over sizes of rho(log(T / measured))  +  sum over c of (0.02 log(c /
//   p))^2
//
// with rho linear beyond 3 % (Levenberg and Marquardt, numeric derivatives, reweighted). The priors
// are round figures that were there before any sweep was looked at; they decide what no sweep
// determines. Intervals: curvature at the optimum and scatter of the sweeps, at least 5 %.
//
// All-reduce, all-gather, reduce-scatter and all-to-all count, on 2 ranks or more of one domain;
// integer types without reduction in the switch. Nothing without sweeps.
FabricFit fit_fabric(std::span<const FabricSweep> sweeps);

} // namespace trainyard
