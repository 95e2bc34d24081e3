#pragma once

// From what a file says to a sweep: which collective, among how many ranks on how many nodes.
//
// The numbers decide before the words do, since logs are cut, joined and quoted:
// * size / (count x element size) is the rank count of collectives that count one rank's share;
// * bus over algorithm bandwidth is the bus factor, which gives the ranks of an all-reduce;
// * then the program's name, the list of devices, the launch command; last the name of the file.

#include "calibrate/import/raw_sweep.h"

#include <tl/expected.hpp>

namespace trainyard {

// The sweep, or why it is refused. What had to be assumed goes to `notes`.
tl::expected<Sweep, std::string> settle(const RawSweep& raw, const SweepHints& hints,
                                        const std::string& file, ImportNotes& notes);

} // namespace trainyard
