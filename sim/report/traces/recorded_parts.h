#pragma once

// Tables of a recorded run, for terminals and for pages.

#include "sim/report/traces/report_part.h"
#include "sim/traces/run_summary.h"

namespace trainyard {

// Kinds of time: of the rank that waits least, which sets the pace, and the mean.
ReportPart breakdown_part(const RunSummary& run);
// What most time is lost in; empty where nothing is.
std::string verdict_sentence(const RunSummary& run);
// Mean of the ranks, longest first.
ReportPart device_work_part(const RunSummary& run);
// At most `most` rows.
ReportPart transfers_part(const RunSummary& run, std::size_t most);
ReportPart stragglers_part(const RunSummary& run, std::size_t most);
// Names and shapes cut to `cells`.
ReportPart kernels_part(const RunSummary& run, std::size_t most, std::size_t cells);

// "2 steps (3 to 4)": which were looked at and how they were found.
std::string steps_text(const RunSummary& run);

} // namespace trainyard
