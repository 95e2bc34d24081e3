#pragma once

// What compute loses to transfers beside it, told by kernels that were recorded both with and
// without one.

#include "sim/traces/transfer_times.h"

namespace trainyard {

// Share of compute's rate that is lost.
struct LostShare {
    double value = 0;
    double spread = 0;       // standard deviation
    std::size_t kernels = 0; // recorded beside such a transfer

    bool operator==(const LostShare&) const = default;
};

struct BesideTransfers {
    std::optional<LostShare> waiting; // while a transfer's kernel waits for others
    std::optional<LostShare> moving;  // while data move
    // By rank and work, per step: how much shorter its kernels would be alone.
    std::vector<std::array<Seconds, device_work_count>> lost;
};

// A kernel of length L with waiting transfers beside it for W of it and moving ones for M does the
// work of L - w W - m M alone: within kernels of one name, shapes and phase of a rank that is the
// same, so w and m follow by linear regression with W / L and M / L as instruments (L itself is in
// W and M, and varies). Of transfers whose beginning is stated or told by all arrivals; kernels
// beside others are left out. Nothing where fewer than 20 kernels ran beside such transfers, or
// what is lost is less than twice its standard deviation; of `lost` then zeros.
BesideTransfers beside_transfers(const JobTrace& job,
                                 const std::vector<std::vector<TransferMoving>>& times);

} // namespace trainyard
