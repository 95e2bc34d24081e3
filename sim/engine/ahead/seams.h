#pragma once

// Repetitions of a pipeline's steady state that need not be run, because they would go like those
// before them (README.md has why that is exact).

#include "sim/engine/ahead/device_load.h"
#include "sim/engine/replay/ledger.h"
#include "sim/engine/state.h"

#include <optional>

namespace trainyard::engine::ahead {

// What each role may leave out; empty where nothing repeats often enough.
Omissions find_omissions(const Program& program);

// The times of a lane's steps, as far as `Seams` asks for them.
struct StepTimes {
    const Time* ends;               // of the step's ops
    const Time* before;             // of those of the step before; null: there is none
    const std::vector<Time>* bases; // when the host began each segment, all steps
};

class Seams {
public:
    explicit Seams(const RunState& run);

    bool any() const { return any_; }

    // Whether the program is one in which repetitions could be left out: all that follows a seam
    // waits for what is near it on either side, or for what comes before all that must go alike.
    bool fit() const;

    // Whether what a lane did in a step shows that all that is left out would go like what is not,
    // and that nothing behind the seam would go another way after it. Called for each step in turn.
    bool go_alike(std::uint32_t lane, std::uint32_t step, const StepTimes& times);

    // How much later all that follows the seam of `step` comes than in the run, of steps that some
    // lane has been through.
    Time shift_behind(std::uint32_t step) const;

    // How often an op of the lane, one after `position` others of its stream, is to be counted.
    std::uint64_t times_of(std::uint32_t lane, std::uint32_t stream, std::uint32_t position) const;

    // The ops of the only stream that computes which stand for what is left out as well.
    replay::RepeatedOps charged(const LaneKind& kind) const;

    // Ops of all lanes and steps that are left out.
    std::uint64_t left_out() const;

private:
    std::optional<Time> period(std::uint32_t lane, const Time* ends) const;
    bool early_is_over(const LaneKind& kind, const StepTimes& times, bool last) const;
    struct HostPlace {
        std::uint32_t lane = 0;
        std::uint32_t step = 0;
        std::uint8_t stream = 0;
        std::uint32_t position = 0;
    };
    bool host_only_leads(std::uint32_t lane, std::uint32_t step, const StepTimes& times,
                         Time period);
    bool comes_in_time(const HostPlace& place, const StepTimes& times) const;
    bool matters_to_host_alone(const LaneKind& kind, const StepWait& host,
                               const StepTimes& times) const;

    const RunState& run_;
    bool any_ = false;
    std::vector<Time> periods_;                   // by step, as far as known
    std::vector<bool> host_leads_;                // by lane, at the begin of its next step
    std::vector<std::vector<StepWait>> barriers_; // by kind
};

} // namespace trainyard::engine::ahead
