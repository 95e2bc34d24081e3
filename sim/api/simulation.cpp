#include "sim/api/simulation.h"

#include "sim/report/text/pace_text.h"
#include "sim/report/text/summary_json.h"
#include "sim/report/text/terminal.h"

namespace trainyard {

Checked<std::optional<Stuck>> stuck_job(const ScenarioFile& file, Session& session,
                                        const WorkControl& work)
{
    if (!has_stops(file.scenario.perturbations))
        return std::nullopt;
    return session.stuck(file, work);
}

Checked<Outcome> simulate_step(const ScenarioFile& file, const TraceRanks* records,
                               Session& session, const WorkControl& work)
{
    SimulateRequest request;
    request.work = work;
    if (records != nullptr)
        request.laid_out = [&](const Outcome& laid_out) { return records->flaws(laid_out); };
    Checked<Outcome> outcome = session.simulate(file, request);
    if (!outcome || records == nullptr)
        return outcome;
    request.laid_out = nullptr;
    request.record = records->request(*outcome);
    const EngineReport engine = outcome->engine;
    Checked<Outcome> recorded = session.simulate(file, request);
    if (recorded)
        recorded->engine = engine;
    return recorded;
}

Checked<Summary> summarize_step(const ScenarioFile& file, const Outcome& outcome,
                                const BesideStep& aside, Session& session, const WorkControl& work)
{
    SensitivityRequest asked;
    asked.scaling = aside.scaling;
    asked.advice = AdviceOptions{
        aside.advice, 0, {work.cancel, {}}, find_bottleneck(symptoms_of(outcome)).kind};
    if (aside.what_if)
        asked.what_if = WhatIfOptions{.threads = 0, .work = work};
    const Checked<Sensitivity> sensitivity = sensitivity_of(session, file, outcome, asked);
    if (!sensitivity)
        return tl::unexpected(sensitivity.error());
    return summarize(outcome, *sensitivity);
}

Checked<StepOrStuck> simulate_scenario(const ScenarioFile& file, const SimulationRequest& request,
                                       Session& session)
{
    Checked<std::optional<Stuck>> stuck = stuck_job(file, session, request.work);
    if (!stuck)
        return tl::unexpected(std::move(stuck.error()));
    if (*stuck)
        return std::move(**stuck);
    const TraceRanks* const records = request.records ? &*request.records : nullptr;
    Checked<Outcome> outcome = simulate_step(file, records, session, request.work);
    if (!outcome)
        return tl::unexpected(std::move(outcome.error()));
    Checked<Summary> summary = summarize_step(file, *outcome, request.aside, session, request.work);
    if (!summary)
        return tl::unexpected(std::move(summary.error()));
    Simulation out{std::move(*outcome), std::move(*summary), {}};
    if (request.samples > 0) {
        Checked<Samples> samples = session.samples(file, request.samples, request.work);
        if (!samples)
            return tl::unexpected(std::move(samples.error()));
        out.samples = std::move(*samples);
    }
    return out;
}

Json result_json(const Outcome& outcome, const Summary& summary,
                 const std::optional<Samples>& samples)
{
    Json result = to_json(outcome, summary);
    if (samples)
        result["samples"] = to_json(*samples);
    return result;
}

std::string result_text(const Outcome& outcome, const Summary& summary,
                        const std::optional<Samples>& samples)
{
    return to_text(result_json(outcome, summary, samples)) + "\n";
}

std::string report_text(const Simulation& simulation, std::size_t width)
{
    const Paint plain(Colour::none);
    return terminal_text(simulation.outcome, simulation.summary, {Colour::none, width}) +
           (simulation.samples ? "\n" + samples_text(*simulation.samples, plain) : "");
}

} // namespace trainyard
