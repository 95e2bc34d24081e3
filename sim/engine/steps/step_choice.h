#pragma once

// Which collectives go step by step.
//
// In fidelity `flow` those of a ring may, as soon as others slow them. Where the rings of a run ask
// for more of some links than these carry, each in the way of others, going step by step costs
// members^2 sends per collective: up to `most_colliding_steps` in the whole run it is done, else
// all collectives of such groups stay one activity each. That depends on the program and its
// numbers alone, never on what happens in the run.
//
// In fidelity `chunk` all do, but those whose members move in lockstep: a barrier, and sums made in
// switches, which read from all members at once.

#include "sim/engine/engine.h"
#include "sim/engine/state.h"
#include "sim/engine/steps/step_plan.h"

namespace trainyard::engine {

inline constexpr double most_colliding_steps = 4e6;

class StepChoice {
public:
    StepChoice(const RunState& run, Fidelity fidelity);

    Fidelity fidelity() const { return fidelity_; }

    // How a collective of the group may go, or goes; `none`: as one activity.
    StepShape shape(GroupId group, CollectiveKind kind, TrafficPattern pattern) const;

    // Whether it is for the sake of time that collectives of the group stay one activity.
    bool collides(GroupId group) const { return !collides_.empty() && collides_[group.value] != 0; }

private:
    Fidelity fidelity_;
    const RunState& run_;
    std::vector<std::uint8_t> collides_; // by GroupId; empty: none
};

// What fidelities that know single steps cannot do; empty otherwise.
Problems cannot_step(const RunState& run, Fidelity fidelity);

// The collectives with links that went as one activity all the same, each kind once.
std::vector<WholeCollectives> whole_collectives(const RunState& run, const StepChoice& choice);

} // namespace trainyard::engine
