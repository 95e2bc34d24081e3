#pragma once

// Which part of a layer a kernel works for: what a timeline shows as one bar.

#include "sim/workload/kernel.h"

#include <string>
#include <string_view>

namespace trainyard {

// "attention", "mlp", "experts", ...; empty for norms, residuals and the like, which go with their
// neighbours, and for kernels of a listed layer, which has a name of its own.
std::string_view part_of(const Kernel& kernel);

// A norm that goes with its neighbours.
bool is_norm_between(const Kernel& kernel);

// A product or an attention core: what communication can hide behind.
bool is_heavy(const Kernel& kernel);

// "tp all-gather".
std::string transfer_name(GroupKind group, CollectiveKind kind);

} // namespace trainyard
