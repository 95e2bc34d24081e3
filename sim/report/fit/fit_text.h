#pragma once

#include "calibrate/fit/fit_report.h"

namespace trainyard {

// The report for a terminal: errors by collective and size, then each sweep.
std::string fit_text(const FitReport& report);

} // namespace trainyard
