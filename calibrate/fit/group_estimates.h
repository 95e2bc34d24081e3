#pragma once

// Tables of group sizes that nobody measured, beside those that somebody did.

#include "calibrate/fit/group_sizes.h"

#include <string>
#include <vector>

namespace trainyard {

// Would a prediction take this measured table?
bool is_taken(const KnotTable& table);

// Adds tables of 2, 4, 8, ... ranks of a domain, up to 8 or the most measured, for each library and
// collective with two measured sizes: from the two around, or the two nearest; graded
// `extrapolated`. `found` says which.
void add_group_estimates(std::vector<KnotTable>& tables, std::vector<std::string>& found);

} // namespace trainyard
