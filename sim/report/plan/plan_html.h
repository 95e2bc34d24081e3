#pragma once

#include "sim/report/plan/plan_report.h"
#include "sim/study/capacity/longest_context.h"

namespace trainyard {

// A plan of one cluster as one HTML file that needs no network: the best layout, what each of the
// others loses, time against memory, what was left out. Names in it are escaped.
// `context`: of the longest sequences, where they were asked for; else null.
std::string plan_html(const PlanReport& report, const LongestContext* context = nullptr);

} // namespace trainyard
