#pragma once

// The longest sequences that a cluster trains on, in words and as JSON.

#include "sim/report/text/paint.h"
#include "sim/report/text/table.h"
#include "sim/study/capacity/longest_context.h"

namespace trainyard {

// The answer, what shows that the next length does not do, and the lengths that were looked at.
std::string context_proof(const LongestContext& found); // why the next length does not do
TableCells context_table(const LongestContext& found);  // the lengths; the last column is words
std::string context_text(const LongestContext& found, const Paint& paint, std::size_t width = 100);

Json to_json(const LongestContext& found);

} // namespace trainyard
