#pragma once

// Nodes as they come in, made an execution trace: what they do, what they send, what they wait for.

#include "sim/traces/execution/execution_trace.h"
#include "sim/traces/execution/node_draft.h"

#include <set>
#include <unordered_map>
#include <unordered_set>

namespace trainyard {

enum class GraphForm : std::uint8_t {
    calls, // PyTorch's: ops within ops, which pass tensors on
    nodes  // mlcommons/chakra's: each node says what it is and what it waits for
};

class ExecutionBuilder {
public:
    ExecutionBuilder(std::string file, GraphForm form);

    // Returns what is wrong with the node; empty: nothing.
    std::string add(const NodeDraft& draft);

    std::size_t size() const { return trace_.nodes.size(); }
    // Requires a node.
    ExecutionTrace take();

private:
    void describe_call(GraphNode& node, const NodeDraft& draft);
    void describe_node(GraphNode& node, const NodeDraft& draft);
    void add_call_transfer(GraphNode& node, const NodeDraft& draft);
    void add_node_transfer(GraphNode& node, const NodeDraft& draft);
    void add_groups(const NodeDraft& draft);
    void pass_tensors(GraphNode& node, const NodeDraft& draft);
    void keep_transfer(GraphNode& node, TraceTransfer transfer);
    void take_backend_messages();

    ExecutionTrace trace_;
    std::unordered_set<std::uint64_t> ids_;
    std::unordered_set<std::uint64_t> tensors_;
    std::unordered_map<std::uint64_t, double> storages_;         // their bytes
    std::unordered_map<std::uint64_t, std::uint64_t> writers_;   // of storages: the last op
    std::unordered_map<std::uint64_t, std::string> group_names_; // by the number of their backend
    std::unordered_map<std::uint64_t, int> group_sizes_;         // of groups without a name
    std::vector<std::pair<std::size_t, std::uint64_t>> in_unnamed_;        // transfers of these
    std::unordered_map<std::uint64_t, std::uint64_t> parents_of_messages_; // that calls describe
    std::vector<std::pair<std::size_t, TraceTransfer>> backend_messages_;  // by places of nodes
    std::set<int> ranks_; // this one's, as messages say
    std::set<std::uint64_t> unnamed_groups_;
};

} // namespace trainyard
