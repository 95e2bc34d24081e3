#include "sim/report/html/bar_chart.h"
#include "sim/report/html/charts.h"

#include <fmt/core.h>

namespace trainyard {

std::string breakdown_figure(const Summary& summary)
{
    return step_bars_figure("where the time of a step goes",
                            {{fmt::format("rank {}", summary.critical_rank), summary.critical},
                             {"mean", summary.mean}});
}

} // namespace trainyard
