#pragma once

// The cost table of a plan: what each request takes, and each transfer over each shape of group.

#include "sim/strategy/bind/rank_groups.h"

namespace trainyard {

CostTable bind_costs(const Plan& plan, const Neighbourhood& neighbourhood, const CostModel& cost,
                     const Job& job);

// A share of a transfer as the engine takes it: whole picoseconds, an integer rate, exact work.
TransferCost transfer_cost(const TransferTime& time, const TransferRequest& request);

} // namespace trainyard
