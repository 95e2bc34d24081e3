#pragma once

// Which lanes are recorded, and which of these a trace shows.

#include "sim/study/outcome.h"

#include <set>

namespace trainyard {

// The first lane of each role (pipeline stage).
std::set<LaneId> first_lanes(const Binding& binding);

// The lanes that a trace shows by default, in the last step: those, and the critical one.
RecordRequest default_trace_lanes(const Outcome& outcome);

// Of all lanes, where that is few ops: for pictures of a whole cluster. Else the lanes of a trace.
RecordRequest picture_lanes(const Outcome& outcome, std::uint64_t most_ops = 400'000);

// How many ops these lanes have in a step.
std::uint64_t ops_in_step(const Program& program, const Binding& binding,
                          const std::function<bool(LaneId)>& lanes);

// Recorded ranks for a trace of a few megabytes: the critical one, then the lowest, as
// long as all their device ops together are `most_ops` or fewer. At least one where any was
// recorded.
std::vector<RankId> representative_ranks(const Outcome& outcome, std::size_t most_ops = 140'000);

} // namespace trainyard
