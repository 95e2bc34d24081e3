#include "sim/study/sensitivity/sensitivity.h"

#include "sim/base/parallel.h"

namespace trainyard {

Checked<Sensitivity> sensitivity_of(Session& session, const ScenarioFile& scenario,
                                    const Outcome& outcome, const SensitivityRequest& asked)
{
    const ScenarioFile file = in_fidelity(scenario, outcome.engine.network.fidelity);
    Sensitivity out;
    std::vector<std::function<void()>> runs;
    if (asked.advice)
        runs.emplace_back([&] { out.advice = advise(outcome, file, session, *asked.advice); });
    if (asked.scaling)
        runs.emplace_back([&] { out.scaling = scaling_against_smallest(outcome, file, session); });
    runs.emplace_back([&] { out.pace = find_pace(outcome, file, session); });
    for_each_index(runs.size(), usable_threads(), [&](std::size_t i) { runs[i](); });
    if (asked.what_if) {
        Checked<std::vector<WhatIf>> rows = what_if(outcome, *asked.what_if);
        if (!rows)
            return tl::unexpected(std::move(rows.error()));
        out.what_if = std::move(*rows);
    }
    return out;
}

} // namespace trainyard
