#pragma once

#include "sim/report/plan/plan_report.h"

namespace trainyard {

// A plan of one cluster as one HTML file that needs no network: the best layout, what each of the
// others loses, time against memory, what was left out. Names in it are escaped.
std::string plan_html(const PlanReport& report);

} // namespace trainyard
