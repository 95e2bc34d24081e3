#include "sim/study/own_steps/own_profile.h"

#include "sim/base/fields.h"
#include "sim/study/own_steps/own_rates.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

namespace trainyard {

namespace {

std::vector<std::string> ids_of(const MeasuredSteps& steps)
{
    std::vector<std::string> ids;
    for (const MeasuredStep& step : steps.steps)
        ids.push_back(step.id);
    return ids;
}

} // namespace

Json own_profile(const MeasuredSteps& steps, const RateFit& fit, const std::string& name)
{
    OwnStepsMark mark = steps.before.value_or(OwnStepsMark{});
    mark.base = steps.base_name;
    mark.unexplained = fit.unexplained;
    mark.reach = fit.reach;
    for (const MeasuredStep& step : steps.steps) {
        mark.ids.push_back(step.id);
        if (std::find(mark.jobs.begin(), mark.jobs.end(), step.job) == mark.jobs.end())
            mark.jobs.push_back(step.job);
    }
    Json out = steps.base;
    out["name"] = name;
    out["description"] =
        fmt::format("{}, its rates as own steps on {} have them.", steps.base_name, steps.device);
    for (std::size_t k = 0; k < own_rates().size(); ++k) {
        if (!fit.felt(k) && fit.changes[k] == 0)
            continue;
        const std::string source = fmt::format(
            "own steps {}: log rate {:+.3f} +- {:.3f} against {:+.3f} +- {:.3f} before",
            fmt::join(ids_of(steps), ", "), fit.changes[k], fit.spread[k], 0.0, fit.prior[k]);
        if (std::ranges::find(mark.rates, own_rates()[k].name) == mark.rates.end())
            mark.rates.emplace_back(own_rates()[k].name);
        write_rate(out, own_rates()[k], {fit.changes[k], fit.spread[k], source});
    }
    out["own_steps"] = fields_of<OwnStepsMark>().write(mark);
    return out;
}

std::optional<OwnEvidence> own_evidence(const OwnStepsMark& mark, const JobClass& job)
{
    if (!std::ranges::any_of(mark.jobs, [&](const JobClass& own) { return alike(own, job); }))
        return std::nullopt;
    return OwnEvidence{static_cast<int>(mark.ids.size()), mark.reach};
}

} // namespace trainyard
