#pragma once

// The report's tables, as HTML.

#include "sim/report/summary.h"

namespace trainyard {

std::string breakdown_table(const Summary& summary);
std::string health_table(const Summary& summary);

// What each part of the loader gives, and what the step could take. Empty without `data`.
std::string loading_table(const Summary& summary);

// Who waited for the rank that sets the pace, and the step without each perturbation. Empty when
// nothing perturbs the job.
std::string pace_tables(const Summary& summary);

std::string collectives_table(const Summary& summary);

// Settings that would help, as options to paste; empty when none was tried.
std::string advice_table(const Summary& summary);
// Resources that would help if they were better; empty when it was not asked for.
std::string what_if_table(const Summary& summary);

// Link classes, the way between two nodes, and what the cluster gives to all ranks. Empty on a
// single GPU.
std::string network_tables(const Summary& summary);

} // namespace trainyard
