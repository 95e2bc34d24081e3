#pragma once

// Runs lanes ahead of the clock (README.md): an op is worked out as soon as the times of all it
// needs are known, whatever time others have come to. Only what others may still disturb goes
// through a queue in the order of time.

#include "sim/engine/engine.h"

#include <optional>

namespace trainyard::engine {

// The result of run_event, but for StepResult::events; nothing where the run does not come to an
// end (run_event says why), where more can be disturbed than compute (shared links, windows of
// slowness, lanes that stop), where the streams of a lane are too many steps apart, or where the
// times of all ops are too many to keep. Throws Cancelled.
// Requirements as for run_event.
std::optional<StepResult> run_ahead(const Program& program, const Binding& binding,
                                    const RunControl& control);

} // namespace trainyard::engine
