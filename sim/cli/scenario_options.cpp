#include "sim/cli/scenario_options.h"

#include "sim/api/scenarios.h"
#include "sim/base/fields.h"

#include <CLI/CLI.hpp>

namespace trainyard {

void add_scenario_options(CLI::App& app, ScenarioOptions& options)
{
    app.add_option("--set", options.changes,
                   "change a field of the scenario, as in --set strategy.tp=8")
        ->type_name("FIELD=VALUE")
        ->take_all();
    app.add_option("--profile", options.profile,
                   "constants to time it with, by name or file: --set profile=...")
        ->type_name("NAME");
    app.add_option("--fidelity", options.fidelity, "how the network is modelled")
        ->check(CLI::IsMember(FieldValue<Fidelity>::names()))
        ->type_name("");
    app.add_option("--engine", options.engine, "which engine runs the step; results are the same")
        ->check(CLI::IsMember(FieldValue<Tier>::names()))
        ->type_name("");
    app.add_option("--steps", options.steps, "steps to unroll; the last is measured")
        ->check(CLI::Range(1, 1000));
    app.add_flag("--no-fold", options.no_fold, "simulate every rank, also where ranks are alike");
}

Checked<ScenarioFile> read_scenario(const std::string& path, const ScenarioOptions& options)
{
    Checked<std::vector<Override>> parsed = parse_changes(options.changes);
    if (!parsed)
        return tl::unexpected(std::move(parsed.error()));
    std::vector<Override>& overrides = *parsed;
    if (options.profile)
        overrides.push_back({"profile", *options.profile, "--profile " + *options.profile});
    if (options.fidelity)
        overrides.push_back({"run.fidelity", *options.fidelity, "--fidelity " + *options.fidelity});
    if (options.engine)
        overrides.push_back({"run.engine", *options.engine, "--engine " + *options.engine});
    if (options.steps) {
        const std::string steps = std::to_string(*options.steps);
        overrides.push_back({"run.steps", steps, "--steps " + steps});
    }
    if (options.no_fold)
        overrides.push_back({"run.fold", "false", "--no-fold"});
    return read_scenario_file(path, overrides);
}

} // namespace trainyard
