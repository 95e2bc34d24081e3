#pragma once

// What is known of one recorded op besides its times.

#include "sim/cost/collective_form.h"
#include "sim/study/outcome.h"
#include "sim/study/recorded/record_graph.h"

namespace trainyard {

struct TransferFacts {
    CollectiveKind collective = CollectiveKind::all_reduce;
    GroupKind group = GroupKind::world;
    std::vector<RankId> ranks; // of the communicator, folded ones too; of messages both ends
    Bytes bytes;               // S; of messages what is sent, else what is received
    const Algorithm* algorithm = nullptr; // of the closed form; none: timed by measurements
    Bandwidth algorithm_bandwidth;        // while data moves; 0 where that takes no time
    Bandwidth bus_bandwidth;              // nccl-tests' factor applied
};

struct OpFacts {
    int kernels = 0; // the host issues; 0: not known
    Flops flops;     // of compute
    std::optional<TransferFacts> transfer;
};

// The graph is of the outcome's records.
OpFacts op_facts(const Outcome& outcome, const RecordGraph& graph, RecordIndex record);

} // namespace trainyard
