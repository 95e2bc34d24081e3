#pragma once

// What can be wrong about a program's tensors.

#include "sim/program/program.h"

namespace trainyard {

// One sentence per flaw: effects that do not match their events, tensors that a block (scope use)
// or a role's step does not give back. Everything else must be sound. Which instance is freed when
// is left to the replay of a step (sim/strategy/memory).
std::vector<std::string> memory_flaws(const Program& program);

} // namespace trainyard
