#pragma once

// What an execution trace holds of one rank, kept small: ops and what they wait for, seldom times.

#include "sim/base/diagnostic.h"
#include "sim/traces/kernel_rules.h"
#include "sim/traces/rank_activity.h"

#include <unordered_map>

namespace trainyard {

// The process group of transfers of mlcommons/chakra that name none.
inline constexpr std::string_view every_rank = "all ranks";

enum class NodeRole : std::uint8_t {
    around, // an annotation, a composite op, a thread
    op,     // does work unless an op within it does
    host    // of the host alone, with the time it takes
};

struct GraphNode {
    static constexpr std::uint32_t no_transfer = TraceOp::no_transfer;

    std::uint64_t id = 0; // in the order in which nodes began
    std::uint64_t parent = 0;
    TraceNameId name;
    TraceNameId shapes;         // of its inputs, "[[8, 512], []]"
    double flops = 0;           // stated, else told by shapes; 0: not known
    std::uint64_t bytes = 0;    // stated
    TraceTime duration;         // stated, else 0
    std::size_t first_wait = 0; // in ExecutionTrace::waits
    std::uint32_t wait_count = 0;
    std::uint32_t transfer = no_transfer; // in ExecutionTrace::transfers
    DeviceWork work = DeviceWork::other;
    NodeRole role = NodeRole::around;
    bool on_host = false;       // all of its tensors are in the host's memory
    std::optional<Phase> phase; // where the trace says it
};

struct ExecutionTrace {
    std::string file;
    std::optional<int> rank;
    std::optional<int> world;
    TraceNames names;
    std::vector<TraceGroup> groups;
    std::vector<TraceTransfer> transfers;
    std::deque<GraphNode> nodes;
    std::vector<std::uint64_t> waits; // ids of nodes
    bool calls = false;               // PyTorch's calls within calls: all is the host's, no times
    bool any_duration = false;
    std::uint64_t tensors = 0;
    std::uint64_t tensor_numbers = 0; // as in GraphFacts
    double tensor_bytes = 0;          // of the storages that they lie in

    const std::string& text(TraceNameId id) const
    {
        static const std::string none;
        return id.valid() ? names.text(id) : none;
    }
};

// The places of nodes by their ids.
std::unordered_map<std::uint64_t, std::uint32_t> places_of_nodes(const ExecutionTrace& trace);

// The rank as the rest of the folder looks at it: its ops in the order in which they began, each
// as long as is stated. Refused: nodes that wait for each other, nodes within themselves, nothing
// that does work.
Checked<RankActivity> activity_of(ExecutionTrace&& trace);

} // namespace trainyard
