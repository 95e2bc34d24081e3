// The replay tier at cluster scale. Run in the root of the source tree.

#include "sim/engine/replay/replay.h"
#include "sim/strategy/bind/costs.h"
#include "sim/strategy/bind/jitter_table.h"
#include "sim/study/stages.h"
#include "tests/support/grid_job.h"
#include "tests/support/resident_memory.h"

#include <benchmark/benchmark.h>

using namespace trainyard;

namespace {

struct Case {
    const Program& program;
    const Binding& binding;
};

void replay(benchmark::State& state, const Case& job, int steps)
{
    const test::MemoryRise rise;
    std::uint64_t ops = 0;
    for (auto _ : state) {
        RunControl control;
        control.steps = steps;
        const auto result = engine::run_replay(job.program, job.binding, control);
        if (!result) {
            state.SkipWithError(result.error().reason.c_str());
            return;
        }
        ops += result->ops;
    }
    state.counters["ops"] = static_cast<double>(ops) / static_cast<double>(state.iterations());
    state.counters["MB"] = rise.megabytes();
}

test::GridShape shape(std::uint32_t dp)
{
    return {.tp = 8, .pp = 16, .dp = dp, .layers = 8, .micro_batches = 25, .uneven = true};
}

void grid(benchmark::State& state)
{
    const test::GridJob job = grid_job(shape(static_cast<std::uint32_t>(state.range(0)) / 128));
    replay(state, {job.program, job.binding}, 1);
}
// The same on the reference engine, to compare with.
void grid_by_reference(benchmark::State& state)
{
    const test::GridJob job = grid_job(shape(static_cast<std::uint32_t>(state.range(0)) / 128));
    RunControl control;
    control.steps = 1;
    for (auto _ : state)
        benchmark::DoNotOptimize(run_reference(job.program, job.binding, control));
}
BENCHMARK(grid_by_reference)->Arg(4'096)->Iterations(1)->Unit(benchmark::kMillisecond);

BENCHMARK(grid)->Arg(1'024)->Arg(4'096)->Arg(16'384)->Arg(65'536)->Arg(1'048'576)->Unit(
    benchmark::kMillisecond);

void grid_with_interference(benchmark::State& state)
{
    test::GridShape slowed = shape(static_cast<std::uint32_t>(state.range(0)) / 128);
    slowed.sm_share = full_share / 8;
    slowed.traffic_share = full_share / 4;
    slowed.free_messages = true;
    const test::GridJob job = grid_job(slowed);
    replay(state, {job.program, job.binding}, 1);
}
BENCHMARK(grid_with_interference)->Arg(16'384)->Unit(benchmark::kMillisecond);

// The scenario of Llama-3.1-405B with `ranks` ranks instead, the same work for each; every rank at
// its own speed, up to 10 % slower.
struct Llama405b {
    StageMemos memos;
    Parts parts;
    Binding binding;

    explicit Llama405b(std::int64_t ranks)
    {
        ScenarioFile file = read_scenario_file("scenarios/llama3-405b-h100-16k.json").value();
        Scenario scenario = file.scenario;
        scenario.strategy.dp = static_cast<int>(ranks / 128);
        scenario.training.global_batch = 16 * ranks / 128;
        file = scenario_in_memory(std::move(scenario), file.base, "bench");
        parts = build_parts(file, memos).value();
        BindOptions options{.folding = Folding::none, .conditions = {}};
        Random random(1);
        for (std::int64_t rank = 0; rank < ranks; ++rank)
            options.conditions.slowdown.emplace_back(
                make_id<DeviceId>(static_cast<std::size_t>(rank)), 1 + random.uniform() / 10);
        binding = bind(*parts.plan, parts.job, *parts.topology, *parts.cost, options);
    }
};

void llama_405b(benchmark::State& state)
{
    const Llama405b job(state.range(0));
    replay(state, {job.parts.plan->program, job.binding}, static_cast<int>(state.range(1)));
}
// Every kernel of every rank takes another time.
void llama_405b_with_jitter(benchmark::State& state)
{
    Llama405b job(state.range(0));
    job.binding.jitters.push_back(jitter_table({{.scale = 0.05}, 1}));
    for (Lane& lane : job.binding.lanes)
        lane.jitter = make_id<JitterId>(0);
    replay(state, {job.parts.plan->program, job.binding}, static_cast<int>(state.range(1)));
}
BENCHMARK(llama_405b)
    ->Args({1'024, 1})
    ->Args({16'384, 1})
    ->Args({16'384, 2})
    ->Unit(benchmark::kMillisecond);
BENCHMARK(llama_405b_with_jitter)->Args({16'384, 1})->Unit(benchmark::kMillisecond);

} // namespace

BENCHMARK_MAIN();
