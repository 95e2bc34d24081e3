#pragma once

// A file for NCCL's tuner plugin (ext-tuner/example of NCCL 2.27 and later): where a forced
// algorithm beats NCCL's own choice.

#include "calibrate/fit/clean_sweep.h"
#include "sim/cost/knots.h"

#include <span>

namespace trainyard {

struct TunerLine {
    CollectiveKind collective = CollectiveKind::all_reduce;
    Bytes min_size;
    Bytes max_size;
    std::string algorithm;
    std::string protocol;
    int nodes = 1;
    int ranks = 0;
    double gain = 0; // time of NCCL's choice / time of this one, geometric mean over sizes

    bool operator==(const TunerLine&) const = default;
};

struct TunerAdvice {
    std::vector<TunerLine> lines;
    std::vector<std::string> notes; // what was measured and could not be used, and why
};

// Compares measured tables of one collective, shape and data type (out of place): NCCL's choice
// (auto, auto) with each forced algorithm and protocol. At every size that both have, the fastest
// one counts if it is faster by more than 3 % and by more than the two intervals; neighbouring
// sizes with the same winner become one line. `nodes` of a table are its domains.
TunerAdvice tuner_advice(std::span<const KnotTable> tables);

// collective,min_bytes,max_bytes,algorithm,protocol,channels,nNodes,nRanks,numPipeOps,regBuff with
// -1 for what was not measured.
std::string tuner_csv(std::span<const TunerLine> lines);

} // namespace trainyard
