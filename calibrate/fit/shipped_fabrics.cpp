#include "calibrate/fit/shipped_fabrics.h"

#include "calibrate/fit/written_constant.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>

namespace trainyard {
namespace {

struct Kin {
    std::string_view path;
    std::string_view like;
};
constexpr std::array<Kin, 4> kin{{{"efficiency.reduce_scatter", "efficiency.all_gather"},
                                  {"efficiency.broadcast", "efficiency.all_gather"},
                                  {"efficiency.reduce", "efficiency.all_gather"},
                                  {"efficiency.send_receive", "efficiency.all_to_all"}}};

bool counts(const Sweep& sweep, const KnotPlan& plan, const FabricRule& rule)
{
    const bool named =
        std::any_of(rule.hardware.begin(), rule.hardware.end(),
                    [&](const std::string& words) { return sweep.hardware.starts_with(words); });
    const bool in_part =
        std::any_of(plan.from_size.begin(), plan.from_size.end(), [&](const KnotFromSize& cut) {
            return sweep.source.find(cut.source) != std::string::npos;
        });
    return named && !in_part && sweep.nodes == 1 && sweep.algorithm == "auto" &&
           sweep.protocol == "auto" && (rule.most_ranks == 0 || sweep.ranks <= rule.most_ranks);
}

} // namespace

Checked<Json> remade_fabric(Json file, const KnotPlan& plan, const FabricRule& rule,
                            std::span<const Sweep> sweeps)
{
    std::vector<FabricSweep> chosen;
    for (const Sweep& sweep : sweeps)
        if (counts(sweep, plan, rule))
            chosen.push_back({&sweep, rule.line_rate, rule.in_switch});
    const FabricFit fit = fit_fabric(chosen);
    if (fit.sweeps == 0)
        return rejected("", "no sweep for fabric " + rule.fabric,
                        "the plan names hardware as the sweeps word it");
    const std::string source =
        fmt::format("fit of {} published nccl-tests sweeps (calibrate/sweeps), mean error {:.1f} % "
                    "in sample",
                    fit.sweeps, 100 * fit.error);
    for (const FittedConstant& constant : fit.constants) {
        put_constant(file, constant, "published", source);
        for (const Kin& one : kin)
            if (one.like == constant.path) {
                FittedConstant same = constant;
                same.path = one.path;
                put_constant(file, same, "published", source);
            }
    }
    return file;
}

} // namespace trainyard
