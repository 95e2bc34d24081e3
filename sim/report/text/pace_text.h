#pragma once

// Who sets the pace, and the spread of the step time over seeds: for terminals and as JSON.

#include "sim/base/json.h"
#include "sim/report/text/paint.h"
#include "sim/study/samples.h"
#include "sim/study/sensitivity/pace.h"

namespace trainyard {

std::string pace_text(const Pace& pace, Seconds step, const Paint& paint, std::size_t width);

// One sentence: for cards.
std::string pace_sentence(const Pace& pace, Seconds step);

// "The last 12 entries were not tried one by one": those whose cost is not known.
std::string not_tried_text(int entries);

Json to_json(const Pace& pace, Seconds step);

std::string samples_text(const Samples& samples, const Paint& paint);

Json to_json(const Samples& samples);

} // namespace trainyard
