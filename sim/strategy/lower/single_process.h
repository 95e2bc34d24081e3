#pragma once

// Single-process data parallelism (torch.nn.DataParallel): one process runs a replica on each
// device of its host. Every micro-batch copies the parameters to the replicas, scatters the inputs,
// gathers the outputs on device 0, makes their loss there, scatters its gradients, and adds up the
// replicas' gradients on device 0, which alone updates.
//
// One host thread per device, of which one at a time holds Python's interpreter: in forward each
// device is issued to at 1/n of the host's pace (see `bind`). Autograd's threads hold no such lock.

#include "sim/strategy/lower/job_work.h"
#include "sim/strategy/plan.h"

namespace trainyard {

// Role 0 is device 0, role 1 each of the others.
Plan lower_single_process(const Job& job, const JobWork& work);

} // namespace trainyard
