// What needs more simulations than the job's own.

#include "sim/base/parallel.h"
#include "sim/report/pace.h"
#include "sim/report/scaling.h"
#include "sim/report/summary.h"

namespace trainyard {

Summary summarize(const Outcome& outcome, const ScenarioFile& file, Session& session,
                  const SummaryOptions& options)
{
    Summary summary = summarize(outcome);
    std::optional<Scaling> scaling;
    std::vector<std::function<void()>> runs;
    if (options.advice)
        runs.emplace_back(
            [&] { summary.advice = advise(outcome, file, session, *options.advice); });
    if (options.scaling == ScalingRun::simulate)
        runs.emplace_back([&] { scaling = scaling_against_smallest(outcome, file, session); });
    runs.emplace_back([&] { summary.pace = find_pace(outcome, file, session); });
    for_each_index(runs.size(), usable_threads(), [&](std::size_t i) { runs[i](); });
    if (scaling) {
        summary.scaling_efficiency = scaling->efficiency;
        summary.scaling_base_gpus = scaling->base_gpus;
    }
    return summary;
}

} // namespace trainyard
