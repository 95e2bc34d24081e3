#include "sim/study/run_setup.h"

#include "sim/base/fields.h"
#include "sim/base/files.h"
#include "sim/base/random.h"

#include <algorithm>
#include <cassert>

namespace trainyard {

namespace {

// The first step waits for its first batch in full; steps repeat from the fifth on.
constexpr int steps_with_loader = 5;

// Session settles it before anything is bound.
Fidelity fidelity_of(const Scenario& scenario)
{
    assert(scenario.run.fidelity);
    return *scenario.run.fidelity;
}

LinkDetail link_detail(Fidelity fidelity)
{
    switch (fidelity) {
    case Fidelity::alpha_beta:
        return LinkDetail::none;
    case Fidelity::bundle:
        return LinkDetail::sums;
    case Fidelity::flow:
        return LinkDetail::hops;
    case Fidelity::chunk:
        break;
    }
    return LinkDetail::steps;
}

} // namespace

Folding folding_of(const Scenario& scenario)
{
    return scenario.run.fold && fidelity_of(scenario) != Fidelity::chunk ? Folding::replicas
                                                                         : Folding::none;
}

int steps_of(const Scenario& scenario)
{
    return scenario.data ? std::max(scenario.run.steps, steps_with_loader) : scenario.run.steps;
}

BindOptions bind_options(const Scenario& scenario, const Parts& parts, SimTime measured_from)
{
    BindOptions options;
    options.folding = folding_of(scenario);
    options.links = link_detail(fidelity_of(scenario));
    options.pair_ratio = parts.network.pair_ratio;
    options.conditions = conditions_of(scenario.perturbations, *parts.topology, parts.job.world(),
                                       {scenario.run.seed, steps_of(scenario), measured_from});
    return options;
}

std::uint64_t binding_hash(const Parts& parts, const Scenario& scenario, SimTime measured_from)
{
    std::uint64_t hash = hash_key(parts.job_hash, parts.topology_hash, parts.cost_hash,
                                  static_cast<std::uint64_t>(folding_of(scenario)));
    hash = hash_key(hash, static_cast<std::uint64_t>(fidelity_of(scenario)));
    for (const Perturbation& p : scenario.perturbations)
        hash = hash_key(hash, json_hash(fields_of<Perturbation>().write(p)));
    if (scenario.perturbations.empty())
        return hash;
    return hash_key(hash, static_cast<std::uint64_t>(measured_from.value()),
                    is_random(scenario.perturbations) ? scenario.run.seed : 0,
                    static_cast<std::uint64_t>(steps_of(scenario)));
}

RunControl run_control(const Scenario& scenario, const WorkControl& work)
{
    RunControl control;
    control.steps = steps_of(scenario);
    control.fidelity = fidelity_of(scenario);
    control.tier = scenario.run.engine;
    control.work = work;
    return control;
}

Scenario before_windows(Scenario scenario)
{
    for (Perturbation& p : scenario.perturbations) { // each keeps its place, hence its seed
        p.hangs.reset();
        p.dies.reset();
        if (p.changes_links_for_a_time()) {
            p.bandwidth = 1.0;
            p.background = 0.0;
            p.dead = false;
        }
        if (p.has_window()) {
            p.slowdown = 1.0;
            p.from.reset();
            p.until.reset();
        }
    }
    return scenario;
}

SimTime measured_from(const StepResult& result)
{
    const std::size_t steps = result.step_ends.size();
    return steps < 2 ? SimTime(0) : result.step_ends[steps - 2];
}

} // namespace trainyard
