#pragma once

// The engine's rules once more, as plainly as they can be written: every op of every step is an
// object, everything is looked at again at every instant, all rates are found from nothing. Shares
// no code with the engine. O(instants x ops).

#include "sim/engine/engine.h"

namespace trainyard::test {

struct NaiveTimes {
    SimTime issued{};
    SimTime start{};
    SimTime transfer_start{};
    SimTime end{};

    bool operator==(const NaiveTimes&) const = default;
};

struct NaiveResult {
    bool finished = false; // false: stuck
    // [lane][step x ops of the lane + place in issue order]
    std::vector<std::vector<NaiveTimes>> times;
};

NaiveResult run_naively(const Program& program, const Binding& binding, int steps,
                        Fidelity fidelity);

// Max-min fair rates as the fixpoint of every link filling itself up in the light of what the other
// links allow its users, from no limit downwards.
struct NaiveDemand {
    std::uint64_t ceiling = 0;
    std::vector<LinkUse> links;
};
std::vector<std::uint64_t> naive_max_min(const std::vector<std::uint64_t>& capacities,
                                         const std::vector<NaiveDemand>& demands);

} // namespace trainyard::test
