#pragma once

// What the network fidelities say of one shipped scenario.

#include "sim/report/network_notes.h"
#include "sim/report/traffic.h"
#include "tests/support/shipped_outcome.h"

#include <filesystem>

namespace trainyard::test {

inline double step_seconds(const std::string& scenario, const char* fidelity)
{
    return to_seconds(outcome_of(scenario, {{"run.fidelity", fidelity}}).result->step_time).value();
}

// Bytes that all links of a kind carried by the engine's count.
inline double counted_bytes(const Outcome& outcome, LinkKind kind)
{
    double sum = 0;
    for (const LinkTotals& totals : outcome.result->links)
        if (outcome.topology->link(totals.link).kind == kind)
            sum += totals.bytes;
    return sum;
}

// The bytes of a step depend on its program, not on the fidelity: all count the same. The engine
// finds each of them on two links, up and down, where it moves transfers whole over sound links.
// Those that share links list the fabric's trunks, too.
inline void check_bytes(const Outcome& alone, const Outcome& shared)
{
    const std::vector<LinkClassRow> expected = link_rows(alone);
    const std::vector<LinkClassRow> found = link_rows(shared);
    REQUIRE(found.size() >= expected.size());
    const bool whole =
        shared.engine.network.fidelity == Fidelity::bundle && shared.topology == shared.sound;
    for (std::size_t i = 0; i < expected.size(); ++i) {
        CHECK(found[i].name == expected[i].name);
        CHECK(found[i].links == expected[i].links);
        CHECK(found[i].bytes == Approx(expected[i].bytes).epsilon(1e-9));
        if (whole && found[i].name.starts_with("NIC"))
            CHECK(counted_bytes(shared, LinkKind::nic) == Approx(2 * found[i].bytes).epsilon(1e-3));
        if (whole && found[i].name == "NVLink" && shared.topology->device(DeviceId{0}).nvswitch)
            CHECK(counted_bytes(shared, LinkKind::nvlink) ==
                  Approx(2 * found[i].bytes).epsilon(1e-3));
    }
}

// Where no transfer is slowed by others, `bundle` and `flow` are `alpha-beta` to the picosecond.
// `chunk` differs by what a member gains that is done before others (the first of a broadcast goes
// on while the rest is passed on): up to 0.6 %. Where links are perturbed, `alpha-beta` takes the
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
        check_bytes(alone, shared);
        const double found = to_seconds(shared.result->step_time).value();
        const std::uint64_t slowed = shared.result->slowed;
        const bool in_steps = shared.engine.network.fidelity == Fidelity::chunk;
        const bool sound = shared.topology == shared.sound;
        if (slowed == 0 && sound && !in_steps)
            CHECK(shared.result->step_time == alone.result->step_time);
        else
            CHECK(found == Approx(expected).epsilon(slowed == 0 && sound ? 0.006 : 0.01));
        const std::string named = slowed == 0 ? "No transfer" : std::to_string(slowed);
        CHECK(sharing_notes(shared).front().starts_with(named));
    }
}

} // namespace trainyard::test
