#include "sim/cli/scenario_options.h"

#include <CLI/CLI.hpp>

namespace trainyard {

void add_scenario_options(CLI::App& app, ScenarioOptions& options)
{
    app.add_option("--set", options.changes,
                   "change a field of the scenario, as in --set strategy.tp=8")
        ->type_name("FIELD=VALUE")
        ->take_all();
    std::map<std::string, Fidelity> fidelities;
    for (const EnumName<Fidelity>& entry : enum_names<Fidelity>())
        fidelities.emplace(entry.name, entry.value);
    app.add_option("--fidelity", options.fidelity, "how the network is modelled")
        ->transform(CLI::CheckedTransformer(fidelities))
        ->type_name("alpha-beta|bundle");
    app.add_option("--steps", options.steps, "steps to unroll; the last is measured")
        ->check(CLI::Range(1, 1000));
    app.add_flag("--no-fold", options.no_fold, "simulate every rank, also where ranks are alike");
}

Checked<ScenarioFile> read_scenario(const std::string& path, const ScenarioOptions& options)
{
    std::vector<Override> overrides;
    Problems problems;
    for (const std::string& change : options.changes) {
        const Checked<Override> parsed = parse_override(change);
        if (parsed)
            overrides.push_back(*parsed);
        else
            problems.insert(problems.end(), parsed.error().begin(), parsed.error().end());
    }
    if (!problems.empty())
        return tl::unexpected(std::move(problems));
    if (options.fidelity)
        overrides.push_back({"run.fidelity", std::string(to_name(*options.fidelity))});
    if (options.steps)
        overrides.push_back({"run.steps", std::to_string(*options.steps)});
    if (options.no_fold)
        overrides.push_back({"run.fold", "false"});
    return read_scenario_file(path, overrides);
}

} // namespace trainyard
