#pragma once

// How fast samples must come for a step not to wait for them.

#include "sim/strategy/data/loader_rates.h"
#include "sim/study/outcome.h"

#include <optional>

namespace trainyard {

// Samples per second of one rank if its step did not wait: its batch / the time it does not wait.
double needed_samples(const Outcome& outcome);

// The fewest workers of a rank that make `needed` samples per second, reads of storage and copies
// to the device apart; nothing where no number on its cores does. Requires `outcome.job.data`.
std::optional<int> enough_workers(const Outcome& outcome, const LoaderRates& rates, double needed);

// As many as are enough, or where none are the fewest of those that make most. Likewise.
int useful_workers(const Outcome& outcome);

} // namespace trainyard
