#pragma once

// The shipped constants of fabric classes, made again of published sweeps.

#include "calibrate/fit/fabric_fit.h"
#include "calibrate/fit/shipped_knots.h"

namespace trainyard {

// `file` with the constants that `rule`'s sweeps determine: value and interval to three digits,
// grade `published`, and how many sweeps. What no sweep measures takes its kin's value: broadcast
// and reduce that of all-gather, send/receive that of all-to-all. Other members stay as they are.
// A problem when no sweep is the rule's.
Checked<Json> remade_fabric(Json file, const KnotPlan& plan, const FabricRule& rule,
                            std::span<const Sweep> sweeps);

} // namespace trainyard
