#pragma once

// Which cores a rank computes and communicates on.

#include <vector>

namespace trainyard {

// Of `cores` in their order, the part of rank `rank` of `ranks`: as many for each, neighbours, none
// left out. All of them where there are fewer cores than ranks. Requires 0 <= rank < ranks.
std::vector<int> share_of_cores(const std::vector<int>& cores, int rank, int ranks);

// Binds this thread, and those that it starts from now on, to its rank's part of the cores that it
// may run on. Where threads wander over all cores, the same large sum over Gloo can take half as
// long again in one launch as in the next. What the system refuses is left as it was.
void bind_to_own_cores(int local_rank, int local_ranks);

} // namespace trainyard
