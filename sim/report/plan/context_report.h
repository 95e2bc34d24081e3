#pragma once

// The longest sequences that a cluster trains on, in words and as JSON.

#include "sim/report/text/paint.h"
#include "sim/study/capacity/longest_context.h"

namespace trainyard {

// The answer, what shows that the next length does not do, and the lengths that were looked at.
std::string context_text(const LongestContext& found, const Paint& paint, std::size_t width = 100);

Json to_json(const LongestContext& found);

} // namespace trainyard
