#pragma once

// What a transformer layer keeps from forward to backward, tensor by tensor (Korthikanti 2022,
// section 4.1, widened to gated MLPs, grouped queries, fused attention, fp8 and experts). For a GPT
// layer in 16 bit with dropout and unfused attention they add up to
//
//     s b h (34 + 5 a s/h) / t                 with sequence parallelism
//     s b h (10 + 24/t + 5 a s/(h t))          without
//
// and recomputing the attention core takes the 5 a s/h term away.

#include "sim/workload/layer_shape.h"

#include <string_view>
#include <vector>

namespace trainyard {

struct SavedTensor {
    std::string_view name;
    std::int64_t elements = 0;
    std::int64_t width = 2;   // bytes per element
    bool square = false;      // of queries and keys: grows with the length's square
    bool layer_input = false; // kept even when the whole layer is recomputed
};

std::vector<SavedTensor> saved_tensors(const LayerShape& shape);

} // namespace trainyard
