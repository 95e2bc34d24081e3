#pragma once

// Pipeline stages of a model whose layers they do not share evenly.

#include "sim/workload/model.h"

#include <vector>

namespace trainyard {

// `layers` over `stages`, none of which holds two more than another: the last stage, which has the
// head, is never among those that hold one more, nor is the first while others can, unless its
// layers are lighter (`leading_dense_layers` > 0: without experts). Requires stages >= 2.
std::vector<int> uneven_stages(int layers, int stages, int leading_dense_layers);

// The layers of each of `stages` stages (pp x vpp); empty: each holds equally many. Layers of one
// kind go by number, those of several by the forward operations of a sequence of that many tokens:
// the stage with most of them, encoders and head included, has as few as can be, unless equally
// many layers are within 2 % of that. Requires 2 <= stages <= layers.
std::vector<int> balanced_stages(const Transformer& model, int stages,
                                 std::int64_t sequence_length);

} // namespace trainyard
