#pragma once

// Accounts for the measured step of each lane, from the times of its ops.

#include "sim/engine/replay/ledger.h"
#include "sim/engine/state.h"

namespace trainyard::engine::ahead {

// What a transfer takes from compute.
replay::LaneLoad lane_load(const TransferCost& cost);

class StepAccounting {
public:
    explicit StepAccounting(const RunState& run);

    // How many bytes the times of all lanes take.
    static std::size_t size(const RunState& run);

    // The times of a lane's measured step, to be filled in.
    replay::LaneTimes& times(std::uint32_t lane) { return times_[lane]; }

    // The times of a transfer op. From `arrived` until `began` its members gathered.
    struct Counted {
        SimTime arrived;
        SimTime began;
        SimTime ended;
        Bytes bytes;
    };
    // Counts a transfer op of the measured step, or that many alike.
    void count_transfer(std::uint32_t lane, const FlatOp& op, const Counted& counted,
                        std::uint64_t times = 1);

    // Charges the lane once it has gone through its measured step and all its times are filled in.
    // `repeated`: the ops that also stand for what is left out of the step.
    void close(std::uint32_t lane, SimTime opened, SimTime ended,
               const replay::RepeatedOps& repeated);

    // Fills lanes, transfers and critical_lane of a result that has its step time and lane ends.
    void write(StepResult& result) const;

private:
    const RunState& run_;
    bool interferes_;
    std::vector<std::vector<StepWait>> barriers_; // by kind
    std::vector<std::uint8_t> joins_stages_;      // by GroupId
    std::vector<replay::LaneTimes> times_;        // by LaneId
    std::vector<LaneTotals> totals_;              // likewise
    std::vector<ComputeWork> works_;              // likewise
    std::vector<SimTime> own_steps_;              // likewise
    std::vector<TransferSum> sums_;               // by class
};

} // namespace trainyard::engine::ahead
