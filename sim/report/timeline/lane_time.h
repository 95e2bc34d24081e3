#pragma once

// Where a lane's time goes, piece by piece: the engine's rule (sim/engine/README.md) over records.

#include "sim/study/recorded/record_graph.h"

namespace trainyard {

struct TimePiece {
    SimTime from;
    SimTime to;
    TimeKind kind = TimeKind::bubble;
    RecordIndex record = no_record; // that computes, or that is waited for; none: the host issues

    bool operator==(const TimePiece&) const = default;
};

// From the first op of the lane to its last one's end, without gaps; neighbours of one kind are
// one, with the record of the first. What compute loses to communication is not told apart from it.
// Linear in the lane's records.
std::vector<TimePiece> time_pieces(const RecordGraph& graph, LaneId lane);

} // namespace trainyard
