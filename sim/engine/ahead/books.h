#pragma once

// What the measured step of each lane adds up to, from the times of its ops.

#include "sim/engine/replay/ledger.h"
#include "sim/engine/state.h"

namespace trainyard::engine::ahead {

// What a transfer takes from compute.
replay::LaneLoad lane_load(const TransferCost& cost);

class Books {
public:
    explicit Books(const RunState& run);

    // What the times of all lanes take, in bytes.
    static std::size_t size(const RunState& run);

    // The times of a lane's measured step, to be filled in.
    replay::LaneTimes& times(std::uint32_t lane) { return times_[lane]; }

    // From its arrival until it began the members of a transfer gathered.
    struct Counted {
        SimTime arrived;
        SimTime began;
        SimTime ended;
        Bytes bytes;
    };
    // A transfer op of the measured step, or so many alike.
    void count_transfer(std::uint32_t lane, const FlatOp& op, const Counted& counted,
                        std::uint64_t times = 1);

    // The lane has gone through its measured step; all its times are filled in.
    // `repeated` stands for what is left out of the step besides.
    void close(std::uint32_t lane, SimTime opened, SimTime ended, const replay::Repeated& repeated);

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
