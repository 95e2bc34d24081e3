#pragma once

// What recorded ranks tell of a training step: the figures that are shown and written.

#include "sim/traces/scaled_step.h"
#include "sim/traces/step_account.h"

namespace trainyard {

// What runs in a phase, per rank and step.
struct PhaseWork {
    double ops = 0;
    double flops = 0;
    double transfers = 0;
    Seconds time; // of the stated durations
};

// Means over the steps of a rank. Of an execution trace there are `work`, `ops`, `flops` and
// `phases`, but no account of a step's time.
struct RankSummary {
    int rank = 0;
    std::string file;
    std::size_t steps = 0;
    Seconds step; // mean length
    std::array<Seconds, time_kind_count> time{};
    Seconds gaps;   // as in StepAccount
    Seconds untold; // likewise
    Seconds compute_busy;
    Seconds communication_busy;
    std::array<Seconds, device_work_count> work{};
    std::array<double, device_work_count> ops{}; // per step
    std::array<double, device_work_count> flops{};
    std::array<PhaseWork, phase_count> phases{};
    std::size_t streams = 0;
    std::uint64_t left_over = 0; // ops that were launched before launches were recorded
    double launches = 0;         // per step
    Seconds host_waiting;        // calls that wait for the device, per step
    Seconds clock_offset;
    Seconds offset_spread;
    std::optional<GraphFacts> graph;
};

// Transfers of one kind, size and group; times are medians over all recorded ranks and steps.
struct TransferRow {
    std::optional<CollectiveKind> kind;
    std::string group;
    std::optional<GroupKind> role;
    int ranks = 0;
    std::uint64_t bytes = 0;
    std::string dtype;
    double count = 0;                          // per rank and step
    Seconds kernel;                            // of its kernel
    Seconds moving;                            // while data move, as far as known
    Seconds quickest;                          // shortest of these
    Seconds slow;                              // nine of ten take no longer
    std::size_t recorded = 0;                  // how many there are
    MovingFrom source = MovingFrom::own_start; // of the least certain
    Bandwidth algorithm_bandwidth;             // bytes over `moving`; 0: not known
    Bandwidth bus_bandwidth;                   // nccl-tests' factor applied
    std::optional<Seconds> expected;           // of `moving`, by the constants of a cluster
    bool expected_across = false;              // its domains, there
};

// Who keeps the others waiting, in collectives all of whose members were recorded; per step.
struct StragglerRow {
    int rank = 0;
    double last = 0; // how often it came last
    Seconds kept;    // what the others waited for it, summed over them
    Seconds waited;  // what it waited for others
};

// Products by shape, or kernels by name: the longest.
struct RecordedKernel {
    DeviceWork work = DeviceWork::other;
    std::string name;
    std::string shapes; // empty: not recorded
    double count = 0;   // per rank and step
    Seconds time;       // per rank and step
    double flops = 0;   // per rank and step; 0: not known
};

// What a part of the critical path is.
enum class PathThing : std::uint8_t {
    op,
    host,
    waiting, // a transfer's, for ranks that were not recorded
    queued,  // nothing, though the next op is queued
    untold   // nothing, and whether the next op is queued was not recorded
};

struct RecordedPathShare {
    PathThing thing = PathThing::op;
    DeviceWork work = DeviceWork::other; // of ops
    Seconds time;

    bool operator==(const RecordedPathShare&) const = default;
};

struct RunSummary {
    std::optional<int> world;
    std::string backend;
    std::string device;
    StepSource step_source = StepSource::whole;
    TimesStated times = TimesStated::timeline;
    std::vector<int> step_numbers;
    Seconds step; // mean over ranks and steps
    std::vector<RankSummary> ranks;
    std::vector<JobTraceGroup> groups;    // that carry anything
    std::vector<TransferRow> transfers;   // most time first
    std::vector<StragglerRow> stragglers; // most kept waiting first; empty: nothing is known
    std::vector<RecordedKernel> kernels;  // longest first
    std::array<std::optional<int>, group_kind_count> sizes{}; // of parallel dimensions seen
    std::vector<std::string> doubts;                          // as in JobTrace
    std::vector<std::string> assumed;
    bool on_host = false;      // ops are those of the host's cores
    double not_recognised = 0; // share of the device's time
    std::optional<RebuiltStep> rebuilt;
    std::optional<ScaledStep> scaled;    // where asked
    std::vector<RecordedPathShare> path; // the critical path of a step, longest first
};

RunSummary run_summary(const JobTrace& job);

} // namespace trainyard
