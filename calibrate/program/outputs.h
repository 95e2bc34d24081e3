#pragma once

// What a run of `calibrate` leaves: table, profile, topology, report.

#include "calibrate/program/options.h"
#include "calibrate/program/session.h"

namespace trainyard {

// Writes and prints what the options ask for. Returns what the program exits with.
int write_outputs(const CalibrateOptions& options, const SessionResult& result);

} // namespace trainyard
