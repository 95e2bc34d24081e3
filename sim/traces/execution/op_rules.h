#pragma once

// What PyTorch's ops do, by name and schema, and the operations that their shapes tell.

#include "sim/traces/kernel_rules.h"

#include <optional>
#include <string_view>

namespace trainyard {

// Nothing for an op that starts no kernel of its own: views (a schema that returns what it was
// given; without a schema by name), allocations, questions.
std::optional<DeviceWork> work_of_op(std::string_view name, std::string_view schema);

// Floating-point operations of a product, convolution or attention with these shapes of inputs and
// outputs, two for each multiplication with its addition; attention without what a mask spares.
// 0: the shapes do not tell.
double flops_of_op(std::string_view name, std::string_view shapes, std::string_view out_shapes);

} // namespace trainyard
