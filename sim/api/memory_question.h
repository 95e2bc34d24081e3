#pragma once

// What fills a device: what `trainyard memory` asks.

#include "sim/strategy/memory.h"
#include "sim/study/prediction.h"
#include "sim/study/scenario.h"

namespace trainyard {

class Session;

struct MemoryQuestion {
    std::optional<int> stage;         // of the pipeline; else the fullest
    int steps = 2;                    // that the allocator lives through
    std::string lengths;              // as parse_lengths takes them; empty: as the scenario says
    bool expandable_segments = false; // as PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True
    std::string max_split_size;       // "128MiB": larger cached blocks are never cut; empty: none
};

struct MemoryAnswer {
    MemoryEstimate memory;
    PeakPrediction peak; // of the stage asked for
};

// Problems: those of the scenario, and values of the question that are none.
Checked<MemoryAnswer> memory_of(const ScenarioFile& file, const MemoryQuestion& question,
                                Session& session);

} // namespace trainyard
