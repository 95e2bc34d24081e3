#include "sim/study/session.h"

#include "sim/base/files.h"
#include "sim/base/random.h"
#include "sim/study/memo.h"
#include "sim/study/stages.h"

#include <chrono>

namespace trainyard {

struct Session::State {
    StageMemos memos;
    Memo<Binding> bindings{4};
    Memo<StepResult> results{16};
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

RunControl run_control(const Scenario& scenario, const SimulateRequest& request)
{
    RunControl control;
    control.steps = scenario.run.steps;
    control.fidelity = scenario.run.fidelity;
    control.work = request.work;
    if (request.record)
        control.record = *request.record;
    return control;
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

    Outcome out;
    const std::uint64_t binding_key = binding_hash(*parts, scenario);
    out.binding = state_->bindings.find(binding_key);
    if (!out.binding)
        out.binding =
            state_->bindings.keep(binding_key, bind(*parts->plan, parts->job, *parts->topology,
                                                    *parts->cost, bind_options(scenario)));

    const std::uint64_t result_key =
        hash_key(binding_key, static_cast<std::uint64_t>(scenario.run.steps));
    if (!request.record)
        out.result = state_->results.find(result_key);
    if (!out.result) {
        Checked<StepResult> result =
            run_reference(parts->plan->program, *out.binding, run_control(scenario, request));
        if (!result)
            return tl::unexpected(result.error());
        out.result = request.record ? std::make_shared<const StepResult>(std::move(*result))
                                    : state_->results.keep(result_key, std::move(*result));
    }

    out.scenario = scenario;
    out.job = parts->job;
    out.topology = parts->topology;
    out.cost = parts->cost;
    out.plan = parts->plan;
    out.memory = estimate_memory(parts->job, device_memory(parts->cost->profile()));
    out.step_time =
        predict_step_time(to_seconds(out.result->step_time), parts->job.model, parts->grade);
    out.warnings = std::move(parts->warnings);
    out.input_hash = hash_key(binding_key, content_hash(to_text(file.json, JsonStyle::compact)),
                              parts->model_hash);
    out.engine.fidelity = scenario.run.fidelity;
    out.engine.ranks = parts->job.world();
    out.engine.lanes = static_cast<int>(out.binding->lanes.size());
    out.engine.ops = out.result->ops;
    out.engine.events = out.result->events;
    out.engine.wall_ms =
        std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - began).count();
    return out;
}

Problems Session::check(const ScenarioFile& file)
{
    Checked<Parts> parts = build_parts(file, state_->memos);
    return parts ? parts->warnings : parts.error();
}

Checked<MemoryEstimate> Session::memory(const ScenarioFile& file)
{
    Checked<Parts> parts = build_job_parts(file, state_->memos);
    if (!parts)
        return tl::unexpected(parts.error());
    return estimate_memory(parts->job, device_memory(parts->cost->profile()));
}

Session::StageCounts Session::counts() const
{
    const StageMemos& memos = state_->memos;
    return {memos.topologies.built(), memos.models.built(),     memos.costs.built(),
            memos.plans.built(),      state_->bindings.built(), state_->results.built()};
}

} // namespace trainyard
