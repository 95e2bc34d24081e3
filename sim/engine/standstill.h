#pragma once

// A job at which nothing goes on any more: who stopped it, and who waits for whom.
//
// As a monitored barrier would see it, and further: from each rank that waits the chain of waits
// leads to those for whom the others wait, and these come first.

#include "sim/engine/engine.h"

#include <optional>

namespace trainyard {

// Where a lane is in its program.
struct OpPlace {
    LabelId label{};
    OpKind kind = OpKind::compute;
    StreamId stream{};
    std::uint16_t micro_batch = BlockUse::no_index;
    std::uint16_t layer = BlockUse::no_index;
    std::uint16_t step = 0;

    bool operator==(const OpPlace&) const = default;
};

// A lane that hangs or has died.
struct Culprit {
    LaneId lane{};
    Stop stop{};
    OpPlace place{}; // the first op that its host did not issue, or that did not end

    bool operator==(const Culprit&) const = default;
};

struct Waiter {
    LaneId lane{};
    OpPlace place{};
    SimTime issued{};  // by its host; known where a lane stops, else as `arrived`
    SimTime arrived{}; // its kernel is resident

    bool operator==(const Waiter&) const = default;
};

enum class WaitCause : std::uint8_t {
    absence,  // `missing` have not come
    death,    // some of `missing` came and died
    dead_link // all have come, and a link has no capacity
};

// A transfer that does not end.
struct Wait {
    GroupId group{}; // collective
    LaneId from{};   // message
    LaneId to{};
    std::uint32_t sequence = 0; // among those of its group, or from that sender to that receiver
    WaitCause cause = WaitCause::absence;
    LinkId link{}; // without capacity
    std::vector<Waiter> here{};
    std::vector<LaneId> missing{};
    // 1: for a culprit itself, 2: for those who wait for a culprit, ...; 0: for one another.
    int distance = 0;

    bool operator==(const Wait&) const = default;
};

struct Standstill {
    SimTime at{};                    // from then on nothing changes any more
    std::vector<Culprit> culprits{}; // the first to stop first
    std::vector<LaneId> finished{};  // lanes that have finished, though others wait for them
    std::vector<Wait> waits{};       // by distance, then by when they began

    bool operator==(const Standstill&) const = default;
};

// Whether any lane hangs or dies.
bool any_stops(const Binding& binding);

// Runs the event engine until all is done or nothing goes on any more; empty in the first case.
// Problems, Cancelled and requirements as for run_reference.
Checked<std::optional<Standstill>> find_standstill(const Program& program, const Binding& binding,
                                                   const RunControl& control);

namespace engine {

struct RunState;
class TransferTable;
class Recorder;

// `stalled`: transfers at rate 0.
Standstill standstill(const RunState& run, const TransferTable& table,
                      std::span<const std::uint32_t> stalled, const Recorder& recorder);

// `newcomer` (a stream) joins a transfer that means something else to those before it.
Diagnostic mismatch(const RunState& run, const TransferTable& table, std::uint32_t transfer,
                    std::uint32_t newcomer);

// Who stopped; then each wait, root causes first: who is missing and what the missing do instead.
Problems stall_report(const Program& program, const Binding& binding, const Standstill& stop);

} // namespace engine
} // namespace trainyard
