#pragma once

// What one rank did, as the rest of this folder looks at it: its device's ops in time, each with
// what it is and when the host issued it; transfers; steps.

#include "sim/traces/kernel_rules.h"
#include "sim/traces/rank_trace.h"

#include <limits>
#include <map>

namespace trainyard {

// A collective or message of one rank.
struct TraceTransfer {
    std::optional<CollectiveKind> kind;
    std::uint64_t bytes = 0; // whole buffer, as nccl-tests counts; 0: the trace does not say
    int ranks = 0;           // of its group; 0: the trace does not say
    std::string group;       // name of the process group; empty: the trace does not say
    std::string purpose;
    std::vector<int> members; // empty: not listed, or not in full
    std::string dtype;
    int peer = -1;
    std::uint32_t sequence = 0; // among those of its group and step, in the order of the stream
    TraceTime moving_from;      // when data began to move, where the trace says so; else 0

    bool operator==(const TraceTransfer&) const = default;
};

struct TraceOp {
    static constexpr std::uint32_t no_transfer = ~std::uint32_t{0};

    TraceSpan span;
    std::optional<TraceTime> issued; // as its launch says
    // Without a launch: when the host had issued it at the latest, by what stands behind it.
    TraceTime queued_by{std::numeric_limits<std::int64_t>::max()};
    TraceNameId name;
    TraceNameId host_op; // with these
    TraceNameId shapes;
    std::uint64_t bytes = 0; // of a copy; of a graph's op what is stated
    double flops = 0;        // of a graph's op; 0: not known
    std::uint32_t stream = 0;
    std::uint32_t transfer = no_transfer;
    DeviceWork work = DeviceWork::other;
    Phase phase = Phase::other;
    bool crosses_host = false; // a copy to or from the host
    bool blocks_host = false;  // the host goes on when it has ended
    bool left_over = false;    // launched before the profiler recorded launches (issue_times.h)

    // When the host had issued it, at the latest where its launch was not recorded.
    TraceTime latest_issue() const { return issued.value_or(std::min(queued_by, span.start)); }
};

// From the host's beginning of it (or the end of what the device had to do before, where that is
// later) to that of the next; the last one ends with the host's part or its last op.
struct TraceStep {
    int number = 0;
    TraceSpan span;
    TraceSpan host; // its annotation

    bool operator==(const TraceStep&) const = default;
};

enum class StepSource : std::uint8_t {
    annotations, // ProfilerStep#
    periodicity, // of the kernels
    whole        // neither: all that was recorded counts as one
};

// What a trace says of time.
enum class TimesStated : std::uint8_t {
    timeline,  // when each op ran
    durations, // how long, not when
    none
};

// Of an execution trace: how its nodes hang together.
struct GraphFacts {
    std::uint64_t nodes = 0;
    std::uint64_t waits = 0;             // of a node for another
    std::uint64_t waits_for_unknown = 0; // for nodes that the trace has not
    std::uint64_t depth = 0;             // ops in the longest chain of waits
    Seconds critical_path;               // of the stated durations along waits
    std::uint64_t tensors = 0;
    double tensor_bytes = 0;          // of the storages that they lie in
    bool on_host = false;             // all tensors lie in the host's memory
    bool sizes_go_in = false;         // bytes of transfers are what goes into a rank
    std::uint64_t tensor_numbers = 0; // of all that nodes are given and give: a hash

    bool operator==(const GraphFacts&) const = default;
};

struct RankActivity {
    std::string file;
    int rank = 0;
    std::uint16_t device = 0;                 // that most of the time is spent on
    std::vector<std::uint16_t> other_devices; // with events in the same file
    TraceNames names;
    std::vector<TraceOp> ops; // by start; of `device` alone
    std::vector<TraceTransfer> transfers;
    std::vector<TraceStep> steps;
    StepSource step_source = StepSource::whole;
    std::size_t steps_again = 0; // annotated steps of numbers that were there before: left out
    std::size_t parts = 0;       // what repeats and may be of one step, so many times; 0: nothing
    TraceTime part;              // how long the first takes
    std::uint64_t launches = 0;  // calls of the host that start device ops
    std::vector<TraceSpan> host_waits;   // calls in which the host waits for the device
    std::vector<TraceTime> stream_waits; // calls that make a stream wait for an event
    bool host_recorded = false;
    bool on_host = false; // ops are those of the host's cores
    TimesStated times = TimesStated::timeline;
    std::optional<GraphFacts> graph; // of an execution trace

    const std::string& text(TraceNameId id) const
    {
        static const std::string none;
        return id.valid() ? names.text(id) : none;
    }
};

// What counts as the optimizer's where it runs in its phase: ops of no special kind.
DeviceWork refined(DeviceWork work, Phase phase);

// What runs behind a backward and before the update is of neither, though the same host issues it
// as the forward: sums of gradients, their norm. `ops` in time.
void take_apart_sums_of_gradients(std::vector<TraceOp>& ops);

// Numbers the transfers of each process group in the order in which they run in their step.
void number_transfers(RankActivity& rank);

// Takes the events and names out of the trace; what its header says stays.
RankActivity activity_of(RankTrace&& trace);

} // namespace trainyard
