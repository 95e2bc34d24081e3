#include "sim/study/own_steps/own_profile.h"

#include "sim/base/fields.h"
#include "sim/base/files.h"
#include "sim/base/reader.h"
#include "sim/study/own_steps/own_rates.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

namespace trainyard {

template <>
const FieldTable<OwnStepsMark>& fields_of<OwnStepsMark>()
{
    using M = OwnStepsMark;
    static const auto table =
        FieldTable<M>("own_steps", "The own steps that a profile was fitted to.")
            .field("base", &M::base, {.help = "profile whose rates were the prior"})
            .field("ids", &M::ids, {.help = "of the steps", .required = true})
            .field("jobs", &M::jobs, {.help = "what they were of", .required = true})
            .field("unexplained", &M::unexplained,
                   {.help = "standard deviation of a step's logarithm that no rate explains",
                    .min = 0,
                    .max = 10})
            .field("reach", &M::reach,
                   {.help = "log(high / value) of a like job's 90 % interval",
                    .min = 0,
                    .max = 10,
                    .required = true});
    return table;
}

Json own_profile(const MeasuredSteps& steps, const RateFit& fit, const std::string& name)
{
    OwnStepsMark mark;
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
        constexpr double felt = 0.01; // of the variance: less is no evidence
        if (fit.learnt(k) < felt)
            continue;
        const std::string source = fmt::format(
            "own steps {}: log rate {:+.3f} +- {:.3f} against {:+.3f} +- {:.3f} before",
            fmt::join(mark.ids, ", "), fit.changes[k], fit.spread[k], 0.0, fit.prior[k]);
        write_rate(out, own_rates()[k], {fit.changes[k], fit.spread[k], source});
    }
    out["own_steps"] = fields_of<OwnStepsMark>().write(mark);
    return out;
}

std::optional<OwnStepsMark> own_steps_mark(const std::string& profile_path)
{
    if (!profile_path.ends_with(".json"))
        return std::nullopt; // a shipped one
    const Checked<Json> json = read_json_file(profile_path);
    const Json* const node = json ? json->find("own_steps") : nullptr;
    if (node == nullptr)
        return std::nullopt;
    Problems problems;
    OwnStepsMark mark;
    fields_of<OwnStepsMark>().read(Reader(*node, profile_path, problems), mark);
    if (has_errors(problems))
        return std::nullopt;
    return mark;
}

std::optional<OwnEvidence> own_evidence(const OwnStepsMark& mark, const JobClass& job)
{
    if (!std::ranges::any_of(mark.jobs, [&](const JobClass& own) { return alike(own, job); }))
        return std::nullopt;
    return OwnEvidence{static_cast<int>(mark.ids.size()), mark.reach};
}

} // namespace trainyard
