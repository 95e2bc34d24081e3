#pragma once

// Ranks that evolve identically, so that one of them stands for all.

#include "sim/strategy/bind/rank_groups.h"
#include "sim/strategy/bind/rank_traffic.h"

namespace trainyard {

struct RankClasses {
    std::vector<std::uint32_t> class_of; // by rank
    std::vector<RankId> first;           // by class: its lowest rank
    std::vector<std::uint32_t> size;     // by class
    // Where transfers share links:
    std::vector<std::uint32_t> group_class; // by group of ranks
    std::vector<LinkId> link_of;            // by link: the lowest one alike

    std::size_t count() const { return first.size(); }
};

// Every rank by itself.
RankClasses separate_ranks(std::size_t ranks);

// The coarsest classes such that ranks of a class do the same (`colour`: role and speed), belong to
// groups of the same shapes, and meet the same classes in each group and as each neighbour.
//
// Colour refinement: ranks of equal colour are split until their neighbourhoods agree. Then, event
// by event, members of a class have the same history, and a collective of one representative per
// class starts when the whole one would.
//
// With `traffic` links have classes, too: of equal capacity, with as much of each class of
// transfers on each, and transfers of a class put as much on each class of links. Max-min fair
// rates are then the same for all transfers of a class: every link of a class is full at the same
// level, whoever fills it. Where rings go hop by hop each member's hop is a transfer of its own,
// and ranks of a class have the same classes before and behind them in each ring: the classes of a
// ring follow one another round and round. Signatures of links are sums of 64-bit hashes. Not for
// LinkDetail::steps.
RankClasses alike_ranks(const Neighbourhood& neighbourhood,
                        const std::vector<std::uint32_t>& colour,
                        const RankTraffic* traffic = nullptr);

} // namespace trainyard
