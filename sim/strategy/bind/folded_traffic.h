#pragma once

// What one of each class of transfers puts on one link of each class.

#include "sim/strategy/bind/classes.h"

#include <optional>

namespace trainyard {

// In place of all ranks' traffic: groups by their class (RankClasses::group_class), messages of the
// first rank of each class, by its number. A transfer stands for all of its class, so its use of a
// link is the sum of theirs; uses name the first link of each class.
//
// Where rings go hop by hop the members of a group are its classes in the order of the ring, once
// round.
//
// Nothing where such a sum is more than a LinkUse can say: over 65,535 members' traffic on one
// link.
std::optional<RankTraffic> folded_traffic(const RankTraffic& traffic,
                                          const Neighbourhood& neighbourhood,
                                          const RankClasses& classes);

} // namespace trainyard
