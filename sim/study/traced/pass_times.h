#pragma once

// One step of a rank as passes of layers: the same of a recorded and of a simulated step.

#include "sim/study/outcome.h"
#include "sim/traces/job_trace.h"
#include "sim/traces/repeated_passes.h"

#include <limits>

namespace trainyard {

// Recompute is backward's; other: of no phase, or of none that is known.
enum class StepPart : std::uint8_t { forward, backward, update, other };
inline constexpr std::size_t step_part_count = 4;

// What computes, in time.
struct StepKernel {
    static constexpr std::size_t no_pass = std::numeric_limits<std::size_t>::max();

    double start = 0; // s
    double end = 0;
    StepPart part = StepPart::forward;
    std::uint32_t kind = 0; // as in PassKernel
    std::uint32_t name = 0;
    bool beside = false;        // on another stream than most
    std::size_t pass = no_pass; // of its part; of recorded kernels only once they are found
    std::uint32_t stretch = 0;  // as in PassKernel

    double length() const { return end - start; }
};

// A layer's pass of one micro-batch.
struct SimulatedPass {
    std::uint16_t micro_batch = 0;
    std::uint16_t layer = 0; // among all of the model, embedding included

    bool operator==(const SimulatedPass&) const = default;
    auto operator<=>(const SimulatedPass&) const = default;
};

struct SimulatedStep {
    std::vector<StepKernel> kernels;
    std::array<std::vector<SimulatedPass>, step_part_count>
        passes;                                  // in the order in which they run
    std::array<bool, step_part_count> in_turn{}; // a pass ends before the next one begins
};

// `layers`: whether a layer of the model is one that repeats. Of the last step.
SimulatedStep simulated_step(const Outcome& outcome, LaneId lane, const std::vector<bool>& layers);

// Without passes.
std::vector<StepKernel> recorded_kernels(const RankActivity& rank, const TraceStep& step);

// Finds passes of a part as `ends` (repeated_passes.h) has them. False: they do not repeat so.
struct PassesFound {
    bool found = false;
    double alike = 0;
};
PassesFound set_passes(std::vector<StepKernel>& kernels, StepPart part,
                       const std::vector<bool>& ends);
// How often what runs in a part repeats; 0: it does not.
std::size_t repetitions(const std::vector<StepKernel>& kernels, StepPart part);

// Sums over the part's kernels of a step, s.
struct PartTimes {
    double all = 0;
    double before = 0;           // the first layer's pass of a micro-batch
    double behind = 0;           // the last one's
    std::vector<double> compute; // by pass
    std::vector<double> elapsed;
};

// What runs between two micro-batches without anything of another part is of the later one where
// `early`, else of the earlier one.
PartTimes part_times(const std::vector<StepKernel>& kernels, StepPart part, std::size_t passes,
                     bool early);

} // namespace trainyard
