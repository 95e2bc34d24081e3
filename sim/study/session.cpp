#include "sim/study/session.h"

#include "sim/base/files.h"
#include "sim/base/random.h"
#include "sim/study/memo.h"
#include "sim/study/stages.h"

#include <algorithm>
#include <chrono>

namespace trainyard {

struct Session::State {
    StageMemos memos;
    Memo<Binding> bindings{4};
    Memo<Run> runs{16};
};

namespace {

// A lane per rank is needed where ranks share links.
Folding folding_of(const Scenario& scenario)
{
    return scenario.run.fold && scenario.run.fidelity == Fidelity::alpha_beta ? Folding::replicas
                                                                              : Folding::none;
}

BindOptions bind_options(const Scenario& scenario)
{
    BindOptions options;
    options.folding = folding_of(scenario);
    options.links = scenario.run.fidelity != Fidelity::alpha_beta;
    for (const Perturbation& p : scenario.perturbations)
        options.conditions.slowdown.emplace_back(
            make_id<DeviceId>(static_cast<std::size_t>(p.device)), p.slowdown);
    return options;
}

std::uint64_t binding_hash(const Parts& parts, const Scenario& scenario)
{
    std::uint64_t hash = hash_key(parts.job_hash, parts.topology_hash, parts.cost_hash,
                                  static_cast<std::uint64_t>(folding_of(scenario)));
    hash = hash_key(hash, static_cast<std::uint64_t>(scenario.run.fidelity));
    for (const Perturbation& p : scenario.perturbations)
        hash = hash_key(
            hash, content_hash(to_text(fields_of<Perturbation>().write(p), JsonStyle::compact)));
    return hash;
}

// The first step waits for its first batch in full; steps repeat from the fifth on.
constexpr int steps_with_loader = 5;

int steps_of(const Scenario& scenario)
{
    return scenario.data ? std::max(scenario.run.steps, steps_with_loader) : scenario.run.steps;
}

RunControl run_control(const Scenario& scenario, const SimulateRequest& request)
{
    RunControl control;
    control.steps = steps_of(scenario);
    control.fidelity = scenario.run.fidelity;
    control.tier = scenario.run.engine;
    control.work = request.work;
    if (request.record)
        control.record = *request.record;
    return control;
}

// The binding of that key: known, or made.
std::shared_ptr<const Binding> find_binding(Memo<Binding>& memo, std::uint64_t key,
                                            const Parts& parts, const Scenario& scenario)
{
    if (auto known = memo.find(key))
        return known;
    return memo.keep(
        key, bind(*parts.plan, parts.job, *parts.topology, *parts.cost, bind_options(scenario)));
}

// Runs the program; a run without a record is kept under `key`.
Checked<std::shared_ptr<const Run>> find_run(Memo<Run>& memo, std::uint64_t key, const Plan& plan,
                                             const Binding& binding, const RunControl& control)
{
    if (!control.record.lane)
        if (auto known = memo.find(key))
            return known;
    Checked<Run> made = run(plan.program, binding, control);
    if (!made)
        return tl::unexpected(std::move(made.error()));
    if (!control.record.lane)
        return memo.keep(key, std::move(*made));
    return std::make_shared<const Run>(std::move(*made));
}

EngineReport engine_report(const Outcome& outcome, const TierUse& use)
{
    EngineReport report;
    report.use = use;
    report.fidelity = outcome.scenario.run.fidelity;
    report.ranks = outcome.job.world();
    report.lanes = static_cast<int>(outcome.binding->lanes.size());
    report.ops = outcome.result->ops;
    report.events = outcome.result->events;
    return report;
}

// What the parts know, before the run.
Outcome outcome_of(const Scenario& scenario, const Parts& parts)
{
    Outcome out;
    out.scenario = scenario;
    out.job = parts.job;
    out.topology = parts.topology;
    out.cost = parts.cost;
    out.plan = parts.plan;
    out.memory =
        estimate_memory(parts.job, parts.plan->program, device_memory(parts.cost->profile()));
    out.warnings = parts.warnings;
    return out;
}

} // namespace

Session::Session() : state_(std::make_unique<State>()) {}
Session::~Session() = default;

Checked<Outcome> Session::simulate(const ScenarioFile& file, const SimulateRequest& request)
{
    const auto began = std::chrono::steady_clock::now();
    const Scenario& scenario = file.scenario;
    Checked<Parts> parts = build_parts(file, state_->memos);
    if (!parts)
        return tl::unexpected(parts.error());
    request.work.check();

    const std::uint64_t binding_key = binding_hash(*parts, scenario);
    const std::uint64_t run_key =
        hash_key(binding_key, static_cast<std::uint64_t>(scenario.run.steps),
                 static_cast<std::uint64_t>(scenario.run.engine));
    Outcome out = outcome_of(scenario, *parts);
    out.binding = find_binding(state_->bindings, binding_key, *parts, scenario);
    Checked<std::shared_ptr<const Run>> made =
        find_run(state_->runs, run_key, *parts->plan, *out.binding, run_control(scenario, request));
    if (!made)
        return tl::unexpected(std::move(made.error()));
    out.result = std::shared_ptr<const StepResult>(*made, &(*made)->result);
    out.step_time =
        predict_step_time(to_seconds(out.result->step_time), parts->job.model, parts->grade);
    out.input_hash = hash_key(binding_key, content_hash(to_text(file.json, JsonStyle::compact)),
                              parts->model_hash);
    out.engine = engine_report(out, (*made)->use);
    out.engine.wall_ms =
        std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - began).count();
    return out;
}

Problems Session::check(const ScenarioFile& file)
{
    Checked<Parts> parts = build_parts(file, state_->memos);
    return parts ? parts->warnings : parts.error();
}

Checked<MemoryEstimate> Session::memory(const ScenarioFile& file, const MemoryOptions& options)
{
    Checked<Parts> parts = build_job_parts(file, state_->memos);
    if (!parts)
        return tl::unexpected(parts.error());
    return estimate_memory(parts->job, device_memory(parts->cost->profile()), options);
}

Session::StageCounts Session::counts() const
{
    const StageMemos& memos = state_->memos;
    return {memos.topologies.built(), memos.models.built(),     memos.costs.built(),
            memos.plans.built(),      state_->bindings.built(), state_->runs.built()};
}

} // namespace trainyard
