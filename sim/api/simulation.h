#pragma once

// One step of a scenario: what `trainyard simulate` runs and writes.

#include "sim/api/trace_ranks.h"
#include "sim/report/summary.h"

#include <variant>

namespace trainyard {

// What is looked at beside the step itself.
struct BesideStep {
    bool scaling = true;       // the smallest size, for scaling efficiency
    std::optional<int> advice; // settings to try, 0: none; else as many as are quick
    bool what_if = false;      // each resource improved
};

struct Simulation {
    Outcome outcome;
    Summary summary;
    std::optional<Samples> samples; // where some were asked for
};

struct SimulationRequest {
    std::optional<TraceRanks> records; // whose ops are kept, for timelines; else nobody's
    BesideStep aside;
    int samples = 0; // seeds
    WorkControl work;
};

// A job that ranks stop has no step to report.
using StepOrStuck = std::variant<Simulation, Stuck>;

// Problems of the scenario; throws WorldError and Cancelled.
Checked<StepOrStuck> simulate_scenario(const ScenarioFile& file, const SimulationRequest& request,
                                       Session& session);

// Its parts, for clients that say in between what goes on.

// Empty where no rank stops, or all steps end before.
Checked<std::optional<Stuck>> stuck_job(const ScenarioFile& file, Session& session,
                                        const WorkControl& work);

// With `records` the step is run again once it is known which lanes to record: they are null where
// no ops are to be kept.
Checked<Outcome> simulate_step(const ScenarioFile& file, const TraceRanks* records,
                               Session& session, const WorkControl& work);

Checked<Summary> summarize_step(const ScenarioFile& file, const Outcome& outcome,
                                const BesideStep& aside, Session& session, const WorkControl& work);

// The result as `--json` prints it.
Json result_json(const Outcome& outcome, const Summary& summary,
                 const std::optional<Samples>& samples = {});
std::string result_text(const Outcome& outcome, const Summary& summary,
                        const std::optional<Samples>& samples = {});

// As it is printed for people.
std::string report_text(const Simulation& simulation, std::size_t width = 100);

} // namespace trainyard
