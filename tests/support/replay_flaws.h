#pragma once

#include "sim/program/program.h"

namespace trainyard {

// What does not add up when the step's events are followed instance by instance: a tensor that is
// freed without being there, allocated twice, or left at the end. Our mistake, never the input's.
std::vector<std::string> replay_flaws(const Program& program, const Role& role);

} // namespace trainyard
