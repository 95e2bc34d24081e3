#pragma once

// What the network fidelity of a run means, and what it leaves out.

#include "sim/study/session.h"

#include <string>
#include <vector>

namespace trainyard {

// "transfers do not slow each other down"
std::string fidelity_meaning(Fidelity fidelity);

// Fidelities that know single steps: what went step by step and what did not, one sentence each;
// else none.
std::vector<std::string> step_notes(const Outcome& outcome);

} // namespace trainyard
