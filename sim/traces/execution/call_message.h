#pragma once

// What PyTorch records of a collective or message in an execution trace ("record_param_comms").

#include "sim/traces/execution/node_draft.h"
#include "sim/traces/rank_activity.h"

namespace trainyard {

struct CallMessage {
    TraceTransfer transfer;
    std::optional<std::uint64_t> unnamed_group; // before 1.0.3: a number of the process alone
    std::optional<int> rank;                    // of this one in the group, where it is said
};

// Nothing for calls that move no data, such as "wait".
//
// The inputs are (ParamCommsUtils.hpp) tensors, a sequence number, the group (a number, later its
// name and description), a rank, the collective's name, splits of what goes in and what comes out,
// and later the group's first rank, stride and size; attributes repeat them from 1.0.3 on.
std::optional<CallMessage> call_message(const NodeDraft& draft);

// Of a node that a backend names itself, "gloo:all_gather": what goes in and, where the job has a
// single group, among whom. Nothing for other nodes. Most such nodes lie within a call as above.
std::optional<TraceTransfer> backend_message(const NodeDraft& draft,
                                             const std::vector<TraceGroup>& groups);

// A text in quotes without them.
std::string unquoted(std::string_view text);

} // namespace trainyard
