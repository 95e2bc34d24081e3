#pragma once

// DDP's search for unused parameters (Li 2020, section 3.2.3; torch/csrc/distributed/c10d/
// reducer.cpp, prepare_for_backward and all_reduce_local_used_map): after a forward whose gradients
// will be reduced the host walks the autograd graph; at the end of backward the ranks agree with a
// sum of one int32 per parameter tensor on who was used anywhere.

#include "sim/strategy/lower/data_parallel.h"

namespace trainyard {

class DdpGraph {
public:
    DdpGraph(const Job& job, const StageContent& stage);

    // The visit is the last of its chunk's forward (backward) pass.
    bool forward_ends(std::size_t visit) const;
    bool backward_ends(std::size_t visit) const;
    // The forward visit belongs to the last micro-batch.
    bool is_last(std::size_t visit) const;

    void walk(StageWriter& writer, const Visit& visit) const;
    void agree(StageWriter& writer, const Visit& visit) const;

private:
    const Job& job_;
    const StageContent& stage_;
};

} // namespace trainyard
