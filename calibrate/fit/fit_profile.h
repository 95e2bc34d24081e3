#pragma once

// A profile from sweeps of one machine.

#include "calibrate/fit/measured_tables.h"
#include "sim/cost/profile_library.h"

namespace trainyard {

// What a user may say beside the sweeps; what is empty is found or assumed, and said.
struct FitRequest {
    std::string name = {};
    std::string device = {};          // a shipped one
    std::string network = {};         // a shipped one
    std::string topology_device = {}; // what a topology file says, for logs that do not
    int nics_per_node = 0;
    Bandwidth nic_rate = {};
    std::string date = {};
    std::string host = {};
};

struct FittedProfile {
    Json profile; // the file: parts it rests on by name, what was measured in place
    std::vector<KnotTable> tables;
    std::vector<std::string> assumed;
    std::vector<std::string> found; // what the fit says: scalars, estimates, errors
};

// Knots of every configuration (grade `measured`), of group sizes between and beyond them
// (`extrapolated`), and the constants of the closed form scaled to the machine, for what no sweep
// covers. Without sweeps the device of the request as shipped. Problems
// when nothing is usable or the sweeps are of several kinds of machine.
Checked<FittedProfile> fit_profile(std::span<const Sweep> sweeps, const FitRequest& request,
                                   const Folders& folders = shipped_profiles());

} // namespace trainyard
