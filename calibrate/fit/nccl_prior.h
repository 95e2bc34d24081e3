#pragma once

// What NCCL itself expects of a collective inside one node: the model by which it chooses.
//
//     T = L k_L + S / (B k_B), the lowest over algorithms and protocols
//
// with the latencies and rates of its tuning (NCCL 2.28, src/graph/tuning.cc) and two factors k_L,
// k_B fitted to a machine. As it stands it errs by 14 to 37 % on one node; with the two factors by
// 5 to 10 %. Send/receive and all-to-all are outside it.

#include "calibrate/fit/two_scalars.h"

#include <optional>
#include <string>

namespace trainyard {

struct NcclMachine {
    Bandwidth links;           // all NVLinks of a GPU as NCCL counts them, one direction
    Bandwidth low_latency_cap; // LL protocol
    double in_switch = 0;      // efficiency of reduction in the NVSwitch; 0: none
};

// Of the device that the words name; nothing where its file says nothing of NCCL's tuning.
std::optional<NcclMachine> nccl_machine(const std::string& hardware);

// Ways to run the collective among `ranks` GPUs of one node; empty for collectives outside the
// model. Reductions in the switch need a floating-point type.
std::vector<CandidateTime> nccl_candidates(const Sweep& shape, const NcclMachine& machine,
                                           Bytes size);

struct PriorFit {
    TwoScalars scalars;
    double error = 0;     // mean absolute relative error, fitted
    double raw_error = 0; // the same of NCCL's own constants
};

// The two factors for a sweep of one node; nothing where the model does not apply.
std::optional<PriorFit> fit_nccl_prior(const Sweep& sweep);

} // namespace trainyard
