#pragma once

// Programs as text:
//
//     block "layer forward"
//       0 compute    mlp_down      on compute  cost 3  kernels 2  waits 0 1  records 2

#include "sim/program/program.h"

#include <string>

namespace trainyard {

std::string to_text(const Program& program, const Block& block);

// The uses of one role: block, micro-batch, layer, and the events that its local events stand for.
std::string to_text(const Program& program, const Role& role);

// All blocks, then all roles.
std::string to_text(const Program& program);

template <>
std::vector<EnumName<OpKind>> enum_names<OpKind>();

} // namespace trainyard
