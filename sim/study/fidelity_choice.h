#pragma once

// Which network fidelity a scenario is simulated in, where it leaves that open.

#include "sim/strategy/bind/fabric_demand.h"
#include "sim/study/scenario.h"

#include <limits>
#include <span>

namespace trainyard {

struct Parts;

enum class FidelityReason : std::uint8_t {
    given,
    links_change,   // within the run, which is felt where transfers use links
    nothing_shared, // between switches
    links_shared,   // and the job is quick to simulate with them
    too_many_ops    // to do that, though links are shared
};

template <>
std::vector<EnumName<FidelityReason>> enum_names<FidelityReason>();

struct FidelityChoice {
    Fidelity fidelity = Fidelity::alpha_beta;
    FidelityReason reason = FidelityReason::given;
    bool quick = false; // the job is quick to simulate with shared links
    // Of more than a trunk carries.
    std::optional<FabricDemand> shared = {};
    // For BindOptions.
    double pair_ratio = std::numeric_limits<double>::infinity();

    bool operator==(const FidelityChoice&) const = default;
};

// `bundle` where different kinds of transfers together ask more of the links between switches than
// these carry and the job is quick to simulate with them, else `alpha-beta`. Links nearer to the devices do not
// count: what transfers lose there is part of the constants, which were fitted in `alpha-beta`.
FidelityChoice choose_fidelity(const Scenario& scenario, const Parts& parts);

// One for scenarios that are held against one another, each of which would take its own choice:
// what those that give one agree on; else what all would take; else `bundle` where all are quick in
// it, and `alpha-beta` where one is not.
Fidelity common_fidelity(std::span<const FidelityChoice> choices);

// That `alpha-beta` cannot be had.
Problems fidelity_notes(const Scenario& scenario);

// The scenario's JSON but for its fidelity. The one that was chosen tells more.
Json without_fidelity(Json scenario);

// With a fidelity of its own, as text and as value: for runs that are held against one another.
ScenarioFile in_fidelity(ScenarioFile file, Fidelity fidelity);

} // namespace trainyard
