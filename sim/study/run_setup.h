#pragma once

// How the parts of a scenario are bound and run.

#include "sim/engine/engine.h"
#include "sim/study/stages.h"

namespace trainyard {

// A lane per rank is needed where ranks share links.
Folding folding_of(const Scenario& scenario);

// Steps that are unrolled: with a loader the first ones differ.
int steps_of(const Scenario& scenario);

// Windows of slow devices and bad links begin at `measured_from`.
BindOptions bind_options(const Scenario& scenario, const Parts& parts, SimTime measured_from);

// Of everything that a binding depends on.
std::uint64_t binding_hash(const Parts& parts, const Scenario& scenario, SimTime measured_from);

RunControl run_control(const Scenario& scenario, const WorkControl& work);

// The scenario without windows and stops. Until the measured step begins it runs alike.
Scenario before_windows(Scenario scenario);

// When the measured step begins: the step before has ended on all ranks.
SimTime measured_from(const StepResult& result);

} // namespace trainyard
