#pragma once

// How much of a data set the page cache gives back in later epochs.

namespace trainyard {

// Share of a node's reads that hit a least-recently-used cache of `cached` (share of the data set)
// when `nodes` nodes read each epoch in one new random order, each its part.
//
// A sample is read again j epochs later with probability (1 - 1/n)^(j-1) / n. With both reads at
// uniform places, the share of the data set not read in between is
//   (1 - U/n) (1 - V/n) (1 - 1/n)^(j-1),
// and the read hits when that is at least 1 - cached. One node: c + (1 - c) ln(1 - c), far below c:
// half the data set cached gives 15 % hits.
double shuffled_hit_share(double cached, int nodes);

// The same when every epoch reads in one order, each node always its part: all of that part, or
// nothing, as the cache drops what comes next.
double sequential_hit_share(double cached, int nodes);

} // namespace trainyard
