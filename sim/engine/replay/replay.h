#pragma once

// The replay tier: exact wherever times do not change who goes first.
//
// With in-order streams and transfers that share nothing, an op starts when the last of what it
// needs is over: a slow rank changes times, never the order. So the steps of all lanes are replayed
// in one order that is found beforehand, op by op over all lanes of a kind.

#include "sim/engine/engine.h"
#include "sim/engine/replay/kernels.h"

#include <optional>

namespace trainyard::engine {

// Why the replay would not be exact, in a sentence that goes on from "the order of ops is not known
// beforehand: ".
struct Refusal {
    std::string reason;
};

// What is plain before a run is looked at op by op.
std::optional<Refusal> refused_outright(const Binding& binding, const RunControl& control);

// As run_reference, but for StepResult::events, which stays 0; or a refusal. What is wrong with a
// program (a deadlock, a mismatch) is not said here: it refuses. Throws Cancelled.
tl::expected<StepResult, Refusal> run_replay(const Program& program, const Binding& binding,
                                             const RunControl& control);

// With the loops of one instruction set.
tl::expected<StepResult, Refusal> run_replay(const Program& program, const Binding& binding,
                                             const RunControl& control,
                                             const replay::Kernels& kernels);

} // namespace trainyard::engine
