#pragma once

// What the ops of a recorded step need: time of the host, time of the device, and the ops that they
// wait for. With it the step can be run again with other times.
//
// A trace of PyTorch's profiler names no event that a stream waits for, so waits are told by what
// the recording allows: an op waits for one that had ended when it began, never for a later one.

#include "sim/traces/transfer_times.h"

namespace trainyard {

// Numbers of ops are places in StepNeeds::ops.
struct OpNeeds {
    std::size_t op = 0;               // place in RankActivity::ops
    TraceTime host_before;            // the host is busy with before it waits for `host_waits` ...
    TraceTime host;                   // ... and then until it has issued this op
    TraceTime idle;                   // could have begun but did not; of the device
    TraceTime length;                 // on the device; of a transfer while its data move
    double beside = 0;                // share of it in which a transfer's kernel runs beside it
    std::vector<std::uint32_t> waits; // for the ends of ops on other streams
    std::optional<std::uint32_t> host_waits; // for its end, before it is busy with this op
    bool blocks_host = false;                // the host goes on when it has ended
};

struct StepNeeds {
    std::vector<OpNeeds> ops; // in the order in which the host issues them
    // Likewise behind the last op.
    TraceTime host_before_end;
    TraceTime host_end;
    std::optional<std::uint32_t> host_waits_at_end;
};

// Of one step of a rank; `times` are those of its transfers. n log n in its ops.
StepNeeds step_needs(const RankActivity& rank, const std::vector<TransferMoving>& times,
                     const TraceStep& step);

} // namespace trainyard
