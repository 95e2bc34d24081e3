#pragma once

// What the network fidelity of a run means, and what it leaves out.

#include "sim/study/outcome.h"

#include <string>
#include <vector>

namespace trainyard {

// "transfers do not slow each other down"
std::string fidelity_meaning(Fidelity fidelity);

// What the links between switches may be asked for beyond what they carry, which `alpha-beta` does
// not see: one sentence or none.
std::vector<std::string> unseen_sharing(const FidelityChoice& network);

// Why a run differs from one in which transfers share nothing, one sentence each: what was slowed,
// what went step by step and what did not. In fidelity `alpha-beta` what the links between
// switches may be asked for beyond what they carry, if anything.
std::vector<std::string> sharing_notes(const Outcome& outcome);

} // namespace trainyard
