#pragma once

// A trace of a job that trains on its host's cores: PyTorch's ops are there what kernels are on a
// device.

#include "sim/traces/rank_trace.h"

namespace trainyard {

// Makes device events of the ops that take their time themselves, thread by thread from the
// outside in: of products, norms and the like all that they call; of others those that spend no
// more than half of it in the ops that they call. Transfers of Gloo and MPI are events of streams
// of their own. Sets `on_host`; ids of host ops are new. False, and nothing is changed, where the
// host did not compute: there are events of a device, something names one (a device, a call of its
// runtime, NCCL: then ops only launch what was not recorded), or no op takes time.
bool take_host_ops(RankTrace& trace);

} // namespace trainyard
