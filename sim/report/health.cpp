#include "sim/report/health.h"

#include <fmt/core.h>

namespace trainyard {

std::vector<HealthRow> health_rows(const Summary& summary)
{
    const auto overhead = [](std::string name, double share) {
        return HealthRow{std::move(name), share, judge_overhead(share),
                         std::string(overhead_target)};
    };
    std::vector<HealthRow> rows{
        {"compute stream busy", summary.compute_utilization,
         judge_compute(summary.compute_utilization), std::string(compute_target)},
        overhead("exposed communication", summary.communication_exposed_fraction),
        {"all transfers, added up (may pass 100 %)", summary.communication_summed_fraction, {}, ""},
        overhead("waiting for others", summary.synchronization_share),
        overhead("pipeline bubble", summary.bubble_share)};
    if (summary.scaling_efficiency)
        rows.push_back({fmt::format("scaling efficiency from {} GPU{}", summary.scaling_base_gpus,
                                    summary.scaling_base_gpus == 1 ? "" : "s"),
                        *summary.scaling_efficiency, judge_scaling(*summary.scaling_efficiency),
                        std::string(scaling_target)});
    return rows;
}

std::string usual_mfu(const Summary& summary)
{
    return summary.has_usual_mfu ? "; " + std::string(mfu_target) : "";
}

} // namespace trainyard
