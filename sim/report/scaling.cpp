#include "sim/report/scaling.h"

namespace trainyard {

double scaling_efficiency(Seconds base_step, Seconds step)
{
    return step.value() > 0 ? base_step / step : 0.0;
}

std::vector<int> smaller_replica_counts(const Job& job)
{
    std::vector<int> counts;
    const int experts = job.strategy.ep * job.strategy.etp;
    for (int replicas = 1; replicas < job.dp(); ++replicas)
        if (job.dp() % replicas == 0 && job.strategy.tp * job.strategy.cp * replicas % experts == 0)
            counts.push_back(replicas);
    return counts;
}

} // namespace trainyard
