#pragma once

// A memory curve as a picture shows it: the fullest moment of every column.

#include "sim/report/timeline/memory_curve.h"

namespace trainyard::gui {

// `count` columns from `from` to `to` (from < to): of each the first point that holds most in it,
// or what was held before where nothing changes. Empty without points.
std::vector<HeldBytes> columns_of(const MemoryCurve& curve, SimTime from, SimTime to,
                                  std::size_t count);

// Of what the curve ever holds on the device, what lies lowest in a stack first: what is there
// longest. Kinds that are never held are left out.
std::vector<MemoryKind> stacking_order(const MemoryCurve& curve);

// Bytes of the last point at or before that time; null: the curve begins later.
const HeldBytes* held_at(const MemoryCurve& curve, SimTime time);

} // namespace trainyard::gui
