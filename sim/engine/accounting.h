#pragma once

// Where the lanes' time goes in the measured step and what their transfers add up to.
//
// A lane's time is charged piece by piece: whenever something changes on the lane, the piece since
// the last change belongs to what the lane was doing (rule in README.md).

#include "sim/engine/state.h"
#include "sim/engine/totals.h"

namespace trainyard::engine {

class Accounting {
public:
    explicit Accounting(const RunState& run);

    // The measured step of a lane begins at `time`, ends now.
    void open(LaneState& lane, SimTime time) const;
    void close(LaneState& lane) const;

    // Charges the lane up to now. Call before its state changes.
    void charge(std::uint32_t lane);

    // A transfer op at the head of `stream` ends now; its data moved from `began` on.
    void count_transfer(std::uint32_t stream, SimTime began, Bytes bytes);

    // The totals, for a step that took `step_time` (see README.md on lanes that are not in step).
    std::vector<LaneTotals> lane_totals(SimTime step_time) const;
    std::vector<TransferTotals> transfer_totals() const;

private:
    // What holds up an idle lane: a stream whose transfer must end, or a kind of time.
    struct Cause {
        std::uint32_t transfer_stream = nobody;
        TimeKind kind = TimeKind::bubble;
    };

    struct Piece {
        SimTime begin;
        SimTime end;
    };

    std::uint32_t computing_stream(std::uint32_t lane) const;
    std::uint32_t next_compute_stream(std::uint32_t lane) const;
    Cause cause_of_idleness(std::uint32_t lane) const;
    Cause cause_behind(std::uint32_t lane, std::uint32_t stream) const;
    Cause cause_at_the_end(std::uint32_t lane) const;
    SimTime moving_since(std::uint32_t stream) const;
    TimeKind idle_kind(std::uint32_t stream) const;
    void charge_computing(std::uint32_t lane, std::uint32_t stream, Piece piece);
    u128 work_done_in(std::uint32_t stream, SimTime begin, SimTime busy) const;
    void charge_idle(std::uint32_t lane, Piece piece);
    TransferSum& sum_of(std::uint32_t stream);

    const RunState& run_;
    std::vector<bool> joins_stages_; // by GroupId
    std::vector<LaneTotals> totals_; // by LaneId
    std::vector<ComputeWork> works_; // by LaneId
    std::vector<TransferSum> sums_;  // by class
};

} // namespace trainyard::engine
