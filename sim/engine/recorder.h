#pragma once

// Keeps the ops of the lanes and steps asked for.

#include "sim/engine/engine.h"
#include "sim/engine/state.h"

namespace trainyard::engine {

class Recorder {
public:
    Recorder(const RunState& run, const RecordRequest& request);

    bool wants(std::uint32_t lane) const { return !wanted_.empty() && wanted_[lane] != 0; }

    // The host of a recorded lane enters its next segment now.
    void host_segment(std::uint32_t lane) { segments_[lane].push_back(run_.now); }

    // The op at the head of `stream` of a recorded lane ends now. `moved_from` is when its data
    // began to move (its start, if it moves none).
    void add(std::uint32_t stream, SimTime moved_from, Bytes bytes, LaneId last_arriver);

    // By end, lane and stream; within one stream in its order.
    std::vector<OpRecord> take();

private:
    const RunState& run_;
    std::uint16_t first_step_ = 0;
    std::vector<std::uint8_t> wanted_;           // by lane; empty: none
    std::vector<std::vector<SimTime>> segments_; // by lane: when each host segment began
    std::vector<OpRecord> records_;
};

} // namespace trainyard::engine
