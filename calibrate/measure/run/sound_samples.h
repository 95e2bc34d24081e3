#pragma once

// Whether samples that were read, or that a rank sent, can be those of a run. Files are edited, cut
// and joined, and who sends is another process: what is made of it counts on ranks that exist and
// on times that can be divided by.

#include "calibrate/measure/control/messages.h"
#include "calibrate/measure/samples.h"

namespace trainyard {

// What is wrong with a run before its points, with a point, a group or a host of it; empty:
// nothing.
std::string unsound(const MeasuredRun& run);
std::string unsound(const RankReply& reply);
std::string unsound(const MeasuredPoint& point, std::size_t ranks);
std::string unsound(const GroupSpec& group, std::size_t ranks);
std::string unsound(const NodeReport& node);

} // namespace trainyard
