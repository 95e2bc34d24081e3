#pragma once

#include "calibrate/fit/fit_report.h"

namespace trainyard {

// The report as one HTML file that needs no network: figures, errors by collective and size, and of
// each sweep (of many, the worst fitted) the measured points, the fit with its interval, the points
// where its compact form switches, and the errors at sizes left out. Every chart has its table.
// `above` stands before the figures, as HTML that is trusted.
struct FitPage {
    std::string title = "Fit of measured collectives";
    std::string above = {};
};
std::string fit_html(const FitReport& report, const FitPage& page = {});

} // namespace trainyard
