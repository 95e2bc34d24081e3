#pragma once

// What the network fidelities say of one shipped scenario.

#include "sim/report/network_notes.h"
#include "tests/support/shipped_outcome.h"

#include <filesystem>

namespace trainyard::test {

inline double step_seconds(const std::string& scenario, const char* fidelity)
{
    return to_seconds(outcome_of(scenario, {{"run.fidelity", fidelity}}).result->step_time).value();
}

// Where no transfer is slowed by others, `bundle` and `flow` are `alpha-beta` to the picosecond.
// `chunk` differs by what a member gains that is done before others (the first of a broadcast goes
// on while the rest is passed on): up to 0.5 %. Where links are perturbed, `alpha-beta` takes the
// groups of a kind to send together, which the others find out. Of the shipped scenarios none
// shares links so much that its step is 1 % longer. The report names what was slowed.
inline void check_fidelities(const std::string& scenario)
{
    INFO(scenario);
    const Outcome alone = outcome_of(scenario, {{"run.fidelity", "alpha-beta"}});
    const double expected = to_seconds(alone.result->step_time).value();
    CHECK(sharing_notes(alone).empty());
    for (const char* const fidelity : {"bundle", "flow", "chunk"}) {
        INFO(fidelity);
        const Outcome shared = outcome_of(scenario, {{"run.fidelity", fidelity}});
        const double found = to_seconds(shared.result->step_time).value();
        const std::uint64_t slowed = shared.result->slowed;
        const bool in_steps = shared.engine.fidelity == Fidelity::chunk;
        const bool sound = shared.topology == shared.sound;
        if (slowed == 0 && sound && !in_steps)
            CHECK(shared.result->step_time == alone.result->step_time);
        else
            CHECK(found == Approx(expected).epsilon(slowed == 0 && sound ? 0.005 : 0.01));
        const std::string named = slowed == 0 ? "No transfer" : std::to_string(slowed);
        CHECK(sharing_notes(shared).front().starts_with(named));
    }
}

} // namespace trainyard::test
