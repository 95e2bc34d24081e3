#pragma once

// What is wrong about a program or its binding, one sentence per flaw; empty when sound. A flaw is
// our bug, never a user's.

#include "sim/program/binding.h"

#include <string>
#include <vector>

namespace trainyard {

// Every index in range, waits bound, exchange parts named, counts consistent, every tensor that is
// allocated freed within its block (scope use) or step.
std::vector<std::string> flaws(const Program& program);

// Effects that do not match their events, tensors that a block (scope use) or a role's step does
// not give back. Everything else must be sound. Which instance is freed when is left to
// `replay_flaws`.
std::vector<std::string> memory_flaws(const Program& program);

// Every index in range, groups and members agree, peers exist where parts name them.
std::vector<std::string> flaws(const Program& program, const Binding& binding);

} // namespace trainyard
