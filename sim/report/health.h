#pragma once

#include "sim/report/summary.h"

namespace trainyard {

// A figure beside what the field takes for good.
struct HealthRow {
    std::string name;
    double value = 0;               // share, 1 = all
    std::optional<Verdict> verdict; // none: no usual target
    std::string_view target;
};

std::vector<HealthRow> health_rows(const Summary& summary);

} // namespace trainyard
