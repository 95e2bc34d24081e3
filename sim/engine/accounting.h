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
    explicit Accounting(RunState& run);

    // Compute may get less than the whole device.
    void keep_fractions() { fractions_.resize(accounts_.size()); }

    // The measured step of a lane begins at `time`, ends now.
    void open(std::uint32_t lane, SimTime time);
    void close(std::uint32_t lane);

    // Charges the lane up to now. Call before its state changes.
    void charge(std::uint32_t lane);

    // A transfer op at the head of `stream` ends now; its data moved from `began` on.
    void count_transfer(std::uint32_t stream, SimTime began, Bytes bytes);

    // The totals, for a step that took `step_time` (see README.md on lanes that are not in step).
    std::vector<LaneTotals> lane_totals(SimTime step_time) const;
    std::vector<TransferTotals> transfer_totals() const;
    // When the measured step ended, by LaneId.
    std::vector<SimTime> lane_ends() const;

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

    // What will be the LaneTotals, in two cache lines. Until the end the kinds of computing time
    // hold whole picoseconds of work and `slowdown` all that compute was busy.
    struct alignas(64) Account {
        std::array<SimTime, time_kind_count> time{};
        SimTime communication_busy{};

        SimTime& operator[](TimeKind kind) { return time[static_cast<std::size_t>(kind)]; }
    };
    using Fractions = std::array<std::uint32_t, std::tuple_size_v<ComputeWork>>; // of 2^20 ps

    std::uint32_t computing_stream(std::uint32_t lane) const;
    std::uint32_t next_compute_stream(std::uint32_t lane) const;
    Cause cause_of_idleness(std::uint32_t lane) const;
    Cause cause_behind(std::uint32_t lane, std::uint32_t stream) const;
    Cause cause_at_the_end(std::uint32_t lane) const;
    SimTime moving_since(std::uint32_t stream) const;
    TimeKind idle_kind(std::uint32_t stream) const;
    void charge_op(std::uint32_t lane, std::uint32_t stream, Piece piece);
    u128 work_done_in(std::uint32_t stream, SimTime begin, SimTime busy) const;
    void charge_idle(std::uint32_t lane, Piece piece);
    TransferSum& sum_of(std::uint32_t stream);

    RunState& run_;
    std::vector<bool> joins_stages_;   // by GroupId
    std::vector<Account> accounts_;    // by LaneId
    std::vector<Fractions> fractions_; // by LaneId; empty where nothing can slow compute
    std::vector<Piece> measured_;      // by LaneId: the measured step
    std::vector<TransferSum> sums_;    // by class
};

} // namespace trainyard::engine
