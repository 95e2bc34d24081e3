#pragma once

// Laws that every job drawn at random must keep; each check draws until `jobs` of them resolved.

#include "tests/support/random_jobs.h"

namespace trainyard::testing {

// Programs complete, hold no less than their states at any instant, and hold the same at the end.
void check_memory_over_time(const Draws& draws);

// Bytes of each kind of group and stage are those of closed forms.
void check_traffic(const Draws& draws);

// Making any kind of work or transfer faster never makes a run end later.
void check_more_bandwidth(const Draws& draws);

// Neither the numbers of lanes nor an idle node change anything.
void check_renaming(const Draws& draws);

// What a refusal proposes gets rid of it.
void check_hints(const Draws& draws);

// The closed-form bounds of a step's time and memory are not above what the engine and the memory's
// replay find, and near them.
void check_bounds(const Draws& draws);

} // namespace trainyard::testing
