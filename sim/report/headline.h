#pragma once

#include "sim/report/step_figures.h"
#include "sim/study/prediction.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace trainyard {

struct HeadlineRow {
    std::string_view name;
    std::string value;
    std::string note;                    // beside it
    std::optional<Verdict> verdict = {}; // none: no usual target
};

// What heads a report: step time, throughput, MFU.
std::vector<HeadlineRow> headline_rows(const StepFigures& figures);

// How wide the interval of a peak is, and where it comes from. Requires an interval.
HeadlineRow peak_interval_row(const PeakPrediction& peak);

// "57.1 GB to 73.8 GB (90 %), evidence: published". Requires an interval.
std::string peak_interval_text(const PeakPrediction& peak);

// "probably fits, 4.1 % free": as far as the interval of the peak tells. Requires that it fits.
std::string memory_fit_text(const StepFigures& figures);

} // namespace trainyard
