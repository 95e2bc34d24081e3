#pragma once

// Ranks that evolve identically, so that one of them stands for all.

#include "sim/strategy/bind/rank_groups.h"

namespace trainyard {

struct RankClasses {
    std::vector<std::uint32_t> class_of; // by rank
    std::vector<RankId> first;           // by class: its lowest rank
    std::vector<std::uint32_t> size;     // by class

    std::size_t count() const { return first.size(); }
};

// Every rank by itself.
RankClasses separate_ranks(std::size_t ranks);

// The coarsest classes such that ranks of a class do the same (`colour`: role and speed), belong to
// groups of the same shapes, and meet the same classes in each group and as each neighbour.
//
// Colour refinement: ranks of equal colour are split until their neighbourhoods agree. Then, event
// by event, members of a class have the same history, and a collective of one representative per
// class starts when the whole one would. Exact as long as transfers share no links.
RankClasses alike_ranks(const Neighbourhood& neighbourhood,
                        const std::vector<std::uint32_t>& colour);

} // namespace trainyard
