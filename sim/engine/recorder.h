#pragma once

// Keeps the ops of the lanes and steps asked for.

#include "sim/engine/engine.h"
#include "sim/engine/state.h"

namespace trainyard::engine {

class Recorder {
public:
    // `segments`: keeps when the host of every lane began its segments, for issue times.
    enum class Segments : std::uint8_t { of_recorded_lanes, of_all };
    Recorder(const RunState& run, const RecordRequest& request, Segments segments);

    bool wants(std::uint32_t lane) const { return !wanted_.empty() && wanted_[lane] != 0; }

    // The host of the lane enters its next segment now.
    void host_segment(std::uint32_t lane)
    {
        if (!segments_.empty() && !segments_[lane].empty())
            segments_[lane].push_back(run_.now);
    }

    // Of all lanes.
    bool keeps_segments() const { return keeps_segments_; }

    // When the host issued the op at the head of `stream`. Requires the lane's segments.
    SimTime issued(std::uint32_t stream) const;

    // The op at the head of `stream` of a recorded lane ends now. `moved_from` is when its data
    // began to move (its start, if it moves none).
    void add(std::uint32_t stream, SimTime moved_from, Bytes bytes, LaneId last_arriver);

    // By end, lane and stream; within one stream in its order.
    std::vector<OpRecord> take();

private:
    const RunState& run_;
    bool keeps_segments_ = false;
    std::uint16_t first_step_ = 0;
    std::vector<std::uint8_t> wanted_; // by lane; empty: none
    std::vector<std::vector<SimTime>>
        segments_; // by lane: when each host segment began; empty: not kept
    std::vector<OpRecord> records_;
};

} // namespace trainyard::engine
