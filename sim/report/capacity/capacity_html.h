#pragma once

#include "sim/report/capacity/capacity_report.h"

namespace trainyard {

// A capacity plan as one HTML file that needs no network: days, cost and goodput over GPUs, the
// front, what the best steps spend their time on, the whole training. Names in it are escaped.
std::string capacity_html(const CapacityReport& report);

} // namespace trainyard
