#pragma once

// What process groups are for, where the job does not say.

#include "sim/traces/job_trace.h"

namespace trainyard {

// Fills the roles: by description, else by what a group carries and when. Messages are PP's,
// all-to-alls EP's; a group that reduces in the forward, and not just a little beside other bytes,
// is TP's; all else is of replicas or shards of the data. Notes what no description says.
void find_roles(JobTrace& job);

// The same of one transfer whose process group has no name: sums and gathers are of the one kind
// that the job describes, of data parallelism where it describes none, and not known of several.
std::optional<GroupKind> role_of_unnamed(const TraceTransfer& transfer,
                                         const std::vector<JobTraceGroup>& groups);

} // namespace trainyard
