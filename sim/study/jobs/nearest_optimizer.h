#pragma once

// Optimizers of other frameworks as those that are modelled.

#include "sim/strategy/training.h"

#include <optional>
#include <string_view>

namespace trainyard {

struct NearestOptimizer {
    std::string_view name; // plain: "adamw", "ademamix"
    Optimizer optimizer;
    std::string_view difference; // in states per parameter or in work; empty: it is this one
};

// By name, whatever its case, or one of a family that begins with it: "adamw_torch_fused". Nothing
// for one that is not modelled.
std::optional<NearestOptimizer> nearest_optimizer(std::string_view name);

} // namespace trainyard
