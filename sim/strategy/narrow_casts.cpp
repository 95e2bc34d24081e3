#include "sim/strategy/narrow_casts.h"

#include "sim/workload/number_format.h"

namespace trainyard {

bool casts_parameters(const Job& job)
{
    return is_narrow(job.training.precision) && !*job.training.formats.parameter_gather &&
           job.strategy.zero != 3 && !job.training.lora;
}

double narrow_parameters(const std::vector<HeldLayer>& layers)
{
    double sum = 0;
    for (const HeldLayer& layer : layers)
        if (!layer.in_root_unit() && !layer.wide)
            sum += layer.parameters.total();
    return sum;
}

} // namespace trainyard
