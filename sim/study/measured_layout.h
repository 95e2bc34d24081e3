#pragma once

// A measured run cut in two: the job it was given, and the layout it was run with.

#include "sim/study/record.h"
#include "sim/study/scenario.h"

namespace trainyard {

// Keys tell runs apart by content, never by names of models or words of labels.
struct MeasuredLayout {
    // Of all that the scenario says but the layout, of the number of devices in use, and of who
    // measured with which release: 0 for a run that was not simulated.
    std::uint64_t job = 0;
    std::uint64_t layout = 0; // of the whole scenario
    std::string words;        // "tp 2, pp 2, dp 4, recompute full, micro-batch 4"

    bool operator==(const MeasuredLayout&) const = default;
};

// The layout is what a planner chooses: sizes of tp, pp, cp, ep and what follows from them
// (schedule, stages, how sequences and vocabulary are cut, order of ranks), ZeRO, micro-batch and
// recompute. Overlap, buckets, formats and libraries belong to the job. `dp` is the resolved one.
MeasuredLayout measured_layout(const MeasuredRecord& record, const ScenarioFile& file, int dp);

} // namespace trainyard
