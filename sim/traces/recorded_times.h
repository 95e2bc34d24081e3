#pragma once

// What ops of a job take, as means over recorded ranks: constants of the job, from which its step
// can be rebuilt on ranks that are not among them.

#include "sim/traces/step_needs.h"

#include <map>
#include <string>

namespace trainyard {

// Of an op (step_needs.h), in s. `length` is that without a transfer beside it.
struct OpTimes {
    double host_before = 0;
    double host = 0;
    double idle = 0;
    double length = 0;
};

class RecordedTimes {
public:
    // Of the first 64 steps of these places in JobTrace::ranks.
    RecordedTimes(const JobTrace& job, const std::vector<std::vector<TransferMoving>>& times,
                  const std::vector<std::size_t>& ranks);

    struct Found {
        OpTimes times;
        bool alike = false; // ops of the same kernel, shapes and phase were recorded
    };
    // Means over the ops of the same kernel, shapes and phase (of a transfer: kind, role, ranks and
    // bytes); else over those of the same kernel, else of the same work; of lengths the mean of the
    // middle half, since single kernels are held up. Zeros where there is none.
    Found of(const JobTrace& job, const RankActivity& rank, const TraceOp& op) const;
    // Of the host behind the last op of a step; nothing of the device.
    const OpTimes& at_end() const { return at_end_; }
    // How many times longer compute takes while a transfer's kernel runs beside it: the ratio over
    // all kernels that were recorded both with and without. At least 1.
    double slowdown() const { return slowdown_; }

private:
    std::map<std::string, OpTimes> exact_;
    std::map<std::string, OpTimes> kernels_;
    std::map<DeviceWork, OpTimes> works_;
    OpTimes at_end_;
    double slowdown_ = 1;
};

} // namespace trainyard
