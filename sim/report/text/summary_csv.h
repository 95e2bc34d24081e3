#pragma once

#include "sim/report/summary.h"

#include <span>

namespace trainyard {

struct ResultPair {
    const Outcome* outcome = nullptr;
    const Summary* summary = nullptr;
};

// One line of names, units included, then one line per result. Empty without results.
std::string summary_csv(std::span<const ResultPair> results);
std::string summary_csv(const Outcome& outcome, const Summary& summary);

} // namespace trainyard
