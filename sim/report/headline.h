#pragma once

#include "sim/report/figures.h"

namespace trainyard {

struct HeadlineRow {
    std::string_view name;
    std::string value;
    std::string note;                    // beside it
    std::optional<Verdict> verdict = {}; // none: no usual target
};

// What heads a report: step time, throughput, MFU.
std::vector<HeadlineRow> headline_rows(const StepFigures& figures);

} // namespace trainyard
