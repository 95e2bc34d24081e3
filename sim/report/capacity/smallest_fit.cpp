#include "sim/report/capacity/smallest_fit.h"

#include "sim/base/units.h"
#include "sim/report/text/describe.h"

#include <fmt/core.h>

namespace trainyard {

SmallestFit smallest_fit(const SizedCluster& sized)
{
    return {sized.gpus, layout_words(*sized.scenario, *sized.outcome),
            sized.outcome->step_time.value, *sized.scenario};
}

std::string smallest_text(const SmallestFit& fit)
{
    return fmt::format("The smallest cluster of such nodes that holds the training: {}, {}; a step "
                       "takes {}.",
                       gpus_text(fit.gpus), fit.layout, to_display(fit.step_time));
}

Json to_json(const SmallestFit& fit)
{
    return Json::Object{
        {"cluster_gpus", fit.gpus}, {"layout", fit.layout}, {"step_time_s", fit.step_time.value()}};
}

std::string gpus_text(int gpus)
{
    return fmt::format("{} GPU{}", gpus, gpus == 1 ? "" : "s");
}

} // namespace trainyard
