#pragma once

// Charts of a capacity plan over the number of GPUs, a series for each kind of cluster. Empty where
// nothing of it is known.

#include "sim/report/capacity/capacity_report.h"

namespace trainyard {

std::string wall_time_chart(const CapacityReport& report);
std::string cost_chart(const CapacityReport& report);
std::string goodput_chart(const CapacityReport& report);
std::string efficiency_chart(const CapacityReport& report);

// Of the first two objectives of the front; the third is the area of the marks.
std::string front_chart(const CapacityReport& report);

} // namespace trainyard
