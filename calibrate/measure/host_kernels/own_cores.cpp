#include "calibrate/measure/host_kernels/own_cores.h"

#include <sched.h>

namespace trainyard {

std::vector<int> share_of_cores(const std::vector<int>& cores, int rank, int ranks)
{
    const auto count = static_cast<std::ptrdiff_t>(cores.size());
    if (count < ranks)
        return cores;
    return {cores.begin() + count * rank / ranks, cores.begin() + count * (rank + 1) / ranks};
}

void bind_to_own_cores(int local_rank, int local_ranks)
{
    cpu_set_t allowed;
    CPU_ZERO(&allowed);
    if (sched_getaffinity(0, sizeof(allowed), &allowed) != 0)
        return;
    std::vector<int> cores;
    for (int core = 0; core < CPU_SETSIZE; ++core)
        if (CPU_ISSET(core, &allowed))
            cores.push_back(core);
    cpu_set_t own;
    CPU_ZERO(&own);
    for (const int core : share_of_cores(cores, local_rank, local_ranks))
        CPU_SET(core, &own);
    sched_setaffinity(0, sizeof(own), &own);
}

} // namespace trainyard
