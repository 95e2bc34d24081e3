#pragma once

// Generates the code of a step from the order of its ops, with what is needed to sum up its
// results.

#include "sim/engine/replay/preconditions.h"

namespace trainyard::engine::replay {

// How long equal transfers of a class move data: known beforehand, so that it is counted instead of
// summed as they are executed.
struct MovingTime {
    enum class By : std::uint8_t { lane, partner, group };
    std::uint32_t transfer_class = 0; // its place in TransferClasses::used
    By by = By::lane;                 // whose time is in the table
    std::uint32_t where = 0;          // partner: pipe; group: group class
    const TimeTable* table = nullptr;

    friend bool operator==(const MovingTime&, const MovingTime&) = default;
};

using MovingTimes = std::vector<std::pair<MovingTime, std::uint32_t>>; // and how many

inline void count_one(MovingTimes& known, const MovingTime& moving)
{
    for (auto& [of, count] : known)
        if (of == moving) {
            ++count;
            return;
        }
    known.emplace_back(moving, 1);
}

// The transfer classes (collective x group kind) that the ops of a lane class use.
struct TransferClasses {
    std::vector<std::uint32_t> used;
    std::vector<std::uint32_t> index; // by transfer class: its place in `used`, or none
    MovingTimes moving;
    MovingTimes exposed; // of these, the collectives that hold up compute
};

// The sums that are kept for each lane; those of exposed transfers follow, by transfer class.
enum class Sum : std::uint8_t { bubble, waiting, data, slowed, classes };

// How the time of the lanes of a class is charged.
struct ChargePlan {
    bool vectorized = false;           // by the code; else a Ledger charges each lane
    std::uint32_t last_compute = none; // the last op of the compute stream
    std::vector<std::uint32_t> tail;   // by stream: the first op that may end behind it
    // By stream: charges its tail from the end of the last compute op on; not part of the code.
    std::vector<Instr> tail_charges;
    // How many compute ops there are of each kind of time and duration.
    std::map<std::pair<std::size_t, const TimeTable*>, std::uint32_t> computing;
};

struct GeneratedCode {
    StepCode code;
    std::vector<TransferClasses> transfer_classes;    // by lane class
    std::vector<std::vector<const TimeTable*>> times; // by lane class, op: that take time
    std::vector<ChargePlan> charge_plans;             // by lane class
};

enum class Charging : std::uint8_t {
    vectorized, // time is charged to all lanes of a class at once, where that can be
    by_lane
};

struct CodeRequest {
    const Program& program;
    const OrderRequest& order;
    const JoinsStages& stages;
    Charging charging = Charging::vectorized;
};

// Gives nothing where ranks do not agree about a transfer.
std::optional<GeneratedCode> generate_code(const CodeRequest& request,
                                           const std::vector<Action>& actions, Tables& tables);

} // namespace trainyard::engine::replay
