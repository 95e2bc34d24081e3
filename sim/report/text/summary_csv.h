#pragma once

#include "sim/report/summary.h"

#include <span>

namespace trainyard {

// `value`: a word, number or truth; null leaves the field empty.
struct CsvColumn {
    std::string name;
    Json value;
};

// A line of each.
std::string csv_names(const std::vector<CsvColumn>& columns);
std::string csv_values(const std::vector<CsvColumn>& columns);

struct ResultPair {
    const Outcome* outcome = nullptr;
    const Summary* summary = nullptr;
};

// One line of names, units included, then one line per result. Empty without results.
std::string summary_csv(std::span<const ResultPair> results);
std::string summary_csv(const Outcome& outcome, const Summary& summary);

} // namespace trainyard
