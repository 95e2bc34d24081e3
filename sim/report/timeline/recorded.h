#pragma once

// Recorded ops, found again in the program: what they send, to whom, and what memory they take.

#include "sim/strategy/memory/live_peak.h"
#include "sim/study/session.h"

#include <set>

namespace trainyard {

// The first lane of each role (pipeline stage).
std::set<LaneId> first_lanes(const Binding& binding);

// The lanes that a trace shows by default, in the last step: those, and the critical one.
RecordRequest default_trace_lanes(const Outcome& outcome);

// Of all lanes, where that is few ops: for pictures of a whole cluster. Else the lanes of a trace.
RecordRequest picture_lanes(const Outcome& outcome, std::uint64_t most_ops = 400'000);

// How many ops these lanes have in a step.
std::uint64_t ops_in_step(const Program& program, const Binding& binding,
                          const std::function<bool(LaneId)>& lanes);

// Recorded ranks for a trace of a few megabytes: the critical one, then the lowest, as
// long as all their device ops together are `most_ops` or fewer. At least one where any was
// recorded.
std::vector<RankId> representative_ranks(const Outcome& outcome, std::size_t most_ops = 140'000);

// The op that a record is of. None (null) where the records of its stream are not the role's whole
// step.
struct PlacedOp {
    const Op* op = nullptr;
    const Block* block = nullptr;
};

// By record. Streams are in order, so the k-th record of a lane's stream in a step is the k-th op
// that the role puts there.
std::vector<PlacedOp> place_records(const Plan& plan, const Binding& binding,
                                    const std::vector<OpRecord>& records);

// A send and its receive among the records, by index.
struct RecordedMessage {
    std::size_t send = 0;
    std::size_t receive = 0;

    bool operator==(const RecordedMessage&) const = default;
};

// Sends and receives of a pair of lanes match in issue order per channel and step. Only pairs whose
// both ends were recorded.
std::vector<RecordedMessage> messages(const Binding& binding, const std::vector<OpRecord>& records,
                                      const std::vector<PlacedOp>& placed);

struct MemoryPoint {
    SimTime time;
    std::int64_t bytes = 0; // held from here on
    KindBytes kinds{};      // of named tensors

    bool operator==(const MemoryPoint&) const = default;
};

// What the device of a lane holds during the step, from its static part and its ops' effects. Empty
// when the records do not cover the lane's step.
std::vector<MemoryPoint> memory_over_time(const Outcome& outcome,
                                          const std::vector<PlacedOp>& placed, LaneId lane,
                                          std::uint16_t step);

struct LaneMemory {
    LaneId lane;
    std::vector<MemoryPoint> points;
};

// The same of every lane that has records, in the last step recorded.
std::vector<LaneMemory> memory_of_lanes(const Outcome& outcome);

} // namespace trainyard
