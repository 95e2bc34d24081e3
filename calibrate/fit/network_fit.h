#pragma once

// The constants of network classes, and of what all collectives across domains share, from sweeps
// across domains.

#include "calibrate/fit/fabric_fit.h"
#include "sim/cost/collective_form.h"

#include <map>

namespace trainyard {

// A sweep, the group it ran on, and its network's class with the prior constants.
struct NetworkSweep {
    std::string source;
    CollectiveKind collective = CollectiveKind::all_reduce;
    std::vector<TimedSize> points;
    GroupShape shape;
    FabricClass fabric;
    NetworkClass network;
    bool ring = false; // a forced ring: a reduce-scatter and an all-gather
};

struct NetworkFit {
    CollectiveForm form;
    std::map<std::string, NetworkClass> networks; // by name
    std::vector<FittedConstant> shared;
    std::map<std::string, std::vector<FittedConstant>> constants; // of a class
    int sweeps = 0;
};

// One joint fit: latency and efficiency of every class (and what one communicator gets, where the
// class says that), five constants of the form. As fit_fabric, but each constant has a prior of
// its own width (`prior_width`), in a loss where a sweep is one observation that scatters by 15 %;
// errors count linearly beyond that. A class with few sweeps hence stays near its prior.
// Intervals: curvature at the optimum, at least 5 %.
NetworkFit fit_networks(std::span<const NetworkSweep> sweeps, const CollectiveForm& form);

// The form with the priors of the five.
CollectiveForm prior_form(CollectiveForm form);

// Half the logarithmic width of the 90 % interval of a constant's prior: latency and limits a
// factor of 1.6, efficiencies 9 %, constants of the form 25 %.
double prior_width(std::string_view path);

// Mean absolute relative error of the form's times of that sweep, with the sweep's own class or
// with the fit's.
double network_error(const NetworkSweep& sweep, const CollectiveForm& form);
double network_error(const NetworkSweep& sweep, const NetworkFit& fit);

} // namespace trainyard
