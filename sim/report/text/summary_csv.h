#pragma once

#include "sim/report/summary.h"

#include <span>

namespace trainyard {

// A field of a CSV line (RFC 4180): quoted when it holds a comma, a quote or a line break.
std::string csv_field(std::string_view text);

struct ResultPair {
    const Outcome* outcome = nullptr;
    const Summary* summary = nullptr;
};

// One line of names, units included, then one line per result. Empty without results.
std::string summary_csv(std::span<const ResultPair> results);
std::string summary_csv(const Outcome& outcome, const Summary& summary);

} // namespace trainyard
