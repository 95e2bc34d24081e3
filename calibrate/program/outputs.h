#pragma once

// What a run of `calibrate` leaves: table, profile, topology, report.

#include "calibrate/program/options.h"
#include "calibrate/program/session.h"
#include "sim/cost/profile.h"

namespace trainyard {

// Every file that these options have written.
std::vector<std::string> output_files(const CalibrateOptions& options);

// Writes and prints what the options ask for. `earlier`: the profile of --check, null without it.
// Returns what the program exits with.
int write_outputs(const CalibrateOptions& options, const SessionResult& result,
                  const Profile* earlier);

} // namespace trainyard
