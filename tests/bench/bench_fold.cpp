// The parts of `simulate` on Llama-3.1-405B over 16,384 H100 and more, folded. Run in the root of
// the source tree.

#include "sim/report/summary.h"
#include "sim/strategy/bind/classes.h"
#include "sim/strategy/bind/costs.h"
#include "sim/study/run_setup.h"
#include "sim/study/session.h"
#include "sim/study/stages.h"

#include <benchmark/benchmark.h>
#include <fmt/core.h>

#include <array>

using namespace trainyard;

namespace {

// The scenario of 16,384 ranks with `ranks` of them instead: more replicas on more of the same
// nodes, the same work for each. Three layers of usual switches, of 64 ports, end at 65,536 GPUs.
ScenarioFile scenario_of(std::int64_t ranks, int oversubscription = 1)
{
    const std::string cluster = fmt::format(
        R"({{"format": "trainyard.topology/1", "generator": "cluster", "nodes": {},
             "node": "dgx-h100",
             "fabric": {{"kind": "rail", "oversubscription": {},
                         "network": {{"preset": "ib_ndr", "switch_ports": 128}}}}}})",
        ranks / 8, oversubscription);
    const std::array<Override, 3> changes{
        Override{"strategy.dp", std::to_string(ranks / 128)},
        {"training.global_batch", std::to_string(16 * ranks / 128)},
        {"topology", cluster}};
    return read_scenario_file("scenarios/llama3-405b-h100-16k.json", changes).value();
}

// What is known before a binding is made.
struct Ready {
    ScenarioFile file;
    StageMemos memos;
    Parts parts;
    Neighbourhood near;
    std::vector<std::uint32_t> colours; // by rank: stage and speed

    Ready(std::int64_t ranks, std::int64_t stragglers)
        : file(scenario_of(ranks)), parts(build_parts(file, memos).value())
    {
        near = neighbourhood(parts.plan->program, parts.job, *parts.topology, FabricLimit::costs);
        for (const RoleId role : near.role)
            colours.push_back(role.value * 2);
        for (std::int64_t i = 0; i < stragglers; ++i)
            ++colours[static_cast<std::size_t>(i * 1601 % ranks)];
    }
    BindOptions options(std::int64_t stragglers) const
    {
        BindOptions out{.folding = Folding::replicas, .conditions = {}};
        for (std::int64_t i = 0; i < stragglers; ++i)
            out.conditions.slowdown.emplace_back(
                make_id<DeviceId>(static_cast<std::size_t>(i * 1601 % job().world())), 1.08);
        return out;
    }
    const Job& job() const { return parts.job; }
};

void parts(benchmark::State& state)
{
    const ScenarioFile file = scenario_of(state.range(0));
    for (auto _ : state) {
        StageMemos memos;
        benchmark::DoNotOptimize(build_parts(file, memos).value());
    }
}

void memory(benchmark::State& state)
{
    const Ready ready(state.range(0), 0);
    const DeviceMemory device = device_memory(ready.parts.cost->profile());
    for (auto _ : state)
        benchmark::DoNotOptimize(estimate_memory(ready.job(), ready.parts.plan->program, device));
}

void groups(benchmark::State& state)
{
    const Ready ready(state.range(0), 0);
    for (auto _ : state)
        benchmark::DoNotOptimize(neighbourhood(ready.parts.plan->program, ready.job(),
                                               *ready.parts.topology, FabricLimit::costs));
}

void refinement(benchmark::State& state)
{
    const Ready ready(state.range(0), state.range(1));
    std::size_t classes = 0;
    for (auto _ : state)
        classes = alike_ranks(ready.near, ready.colours).count();
    state.counters["classes"] = static_cast<double>(classes);
}

void costs(benchmark::State& state)
{
    const Ready ready(state.range(0), 0);
    for (auto _ : state)
        benchmark::DoNotOptimize(
            bind_costs(*ready.parts.plan, ready.near, *ready.parts.cost, ready.job()));
}

void binding(benchmark::State& state)
{
    const Ready ready(state.range(0), state.range(1));
    for (auto _ : state)
        benchmark::DoNotOptimize(bind(*ready.parts.plan, ready.job(), *ready.parts.topology,
                                      *ready.parts.cost, ready.options(state.range(1))));
}

void engine(benchmark::State& state)
{
    const Ready ready(state.range(0), state.range(1));
    const Binding bound = bind(*ready.parts.plan, ready.job(), *ready.parts.topology,
                               *ready.parts.cost, ready.options(state.range(1)));
    StepResult result;
    for (auto _ : state)
        result = run(ready.parts.plan->program, bound, {}).value().result;
    state.counters["lanes"] = static_cast<double>(bound.lanes.size());
    state.counters["ops"] = static_cast<double>(result.ops);
    state.counters["events"] = static_cast<double>(result.events);
}

// The same in the order of time, op by op.
void engine_in_order(benchmark::State& state)
{
    const Ready ready(state.range(0), state.range(1));
    const Binding bound = bind(*ready.parts.plan, ready.job(), *ready.parts.topology,
                               *ready.parts.cost, ready.options(state.range(1)));
    for (auto _ : state)
        benchmark::DoNotOptimize(run_event(ready.parts.plan->program, bound, {}));
}

// Binding and running where transfers share links; the fabric is a quarter of what its nodes send.
void sharing(benchmark::State& state, Fidelity fidelity)
{
    ScenarioFile file = scenario_of(state.range(0), 4);
    file.scenario.run.fidelity = fidelity;
    StageMemos memos;
    const Parts parts = build_parts(file, memos).value();
    const BindOptions options = bind_options(file.scenario, parts, SimTime(0));
    const RunControl control = run_control(file.scenario, {});
    std::size_t lanes = 0;
    StepResult result;
    for (auto _ : state) {
        const Binding bound = bind(*parts.plan, parts.job, *parts.topology, *parts.cost, options);
        lanes = bound.lanes.size();
        result = run(parts.plan->program, bound, control).value().result;
    }
    state.counters["lanes"] = static_cast<double>(lanes);
    state.counters["ops"] = static_cast<double>(result.ops);
}

void report(benchmark::State& state)
{
    Session session;
    const Outcome outcome = session.simulate(scenario_of(state.range(0))).value();
    for (auto _ : state)
        benchmark::DoNotOptimize(summarize(outcome));
}

void all(benchmark::State& state)
{
    for (auto _ : state) {
        const ScenarioFile file = scenario_of(state.range(0));
        Session session;
        const Outcome outcome = session.simulate(file).value();
        benchmark::DoNotOptimize(
            summarize(outcome, sensitivity_of(session, file, outcome).value()));
    }
}

void sizes(benchmark::internal::Benchmark* benchmark)
{
    benchmark->Unit(benchmark::kMillisecond)->Arg(16384)->Arg(65536)->Arg(131072);
}
void sizes_and_stragglers(benchmark::internal::Benchmark* benchmark)
{
    benchmark->Unit(benchmark::kMillisecond);
    for (const std::int64_t ranks : {16384, 65536, 131072})
        for (const std::int64_t stragglers : {0, 10})
            benchmark->Args({ranks, stragglers});
}

BENCHMARK(parts)->Apply(sizes);
BENCHMARK(memory)->Apply(sizes);
BENCHMARK(groups)->Apply(sizes);
BENCHMARK(refinement)->Apply(sizes_and_stragglers);
BENCHMARK(costs)->Apply(sizes);
BENCHMARK(binding)->Apply(sizes_and_stragglers);
BENCHMARK(engine)->Apply(sizes_and_stragglers);
BENCHMARK(engine_in_order)->Args({16384, 0})->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(sharing, bundle, Fidelity::bundle)->Arg(16384)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(sharing, flow, Fidelity::flow)->Arg(16384)->Unit(benchmark::kMillisecond);
BENCHMARK(report)->Apply(sizes);
BENCHMARK(all)->Apply(sizes);

} // namespace

BENCHMARK_MAIN();
