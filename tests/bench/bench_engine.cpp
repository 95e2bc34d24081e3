#include "sim/base/random.h"
#include "sim/engine/engine.h"
#include "sim/engine/sharing.h"
#include "tests/support/flaws.h"
#include "tests/support/grid_job.h"

#include <benchmark/benchmark.h>

using namespace trainyard;

namespace {

using RunEngine = Checked<StepResult> (*)(const Program&, const Binding&, const RunControl&);

void run_grid(benchmark::State& state, RunEngine run, const test::GridShape& shape)
{
    const test::GridJob job = test::grid_job(shape);
    if (!flaws(job.program).empty() || !flaws(job.program, job.binding).empty()) {
        state.SkipWithError("the program has flaws");
        return;
    }
    std::uint64_t ops = 0;
    std::uint64_t events = 0;
    for (auto _ : state) {
        RunControl control;
        control.steps = 1;
        const auto result = run(job.program, job.binding, control);
        if (!result) {
            state.SkipWithError(result.error()[0].message.c_str());
            return;
        }
        ops += result->ops;
        events += result->events;
    }
    const auto per_run = [&](std::uint64_t count) {
        return static_cast<double>(count) / static_cast<double>(state.iterations());
    };
    state.counters["ops"] = per_run(ops);
    state.counters["events"] = per_run(events);
    state.counters["ops/s"] =
        benchmark::Counter(static_cast<double>(ops), benchmark::Counter::kIsRate);
}

// 64 lanes, TP4 PP4 DP4: the shape of a 64-GPU job.
void small_grid(benchmark::State& state, RunEngine run)
{
    run_grid(state, run,
             {.tp = 4, .pp = 4, .dp = 4, .layers = 20, .micro_batches = 19, .uneven = true});
}
BENCHMARK_CAPTURE(small_grid, reference, run_reference)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(small_grid, event, run_event)->Unit(benchmark::kMillisecond);

// The same with interference: compute beside communication drains at rates that change.
void small_grid_with_interference(benchmark::State& state, RunEngine run)
{
    run_grid(state, run,
             {.tp = 4,
              .pp = 4,
              .dp = 4,
              .layers = 20,
              .micro_batches = 19,
              .uneven = true,
              .sm_share = full_share / 8,
              .traffic_share = full_share / 4});
}
BENCHMARK_CAPTURE(small_grid_with_interference, reference, run_reference)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(small_grid_with_interference, event, run_event)->Unit(benchmark::kMillisecond);

// 16,384 lanes, TP8 PP16 DP128, every rank at its own speed.
void large_grid(benchmark::State& state, RunEngine run)
{
    run_grid(state, run,
             {.tp = 8, .pp = 16, .dp = 128, .layers = 8, .micro_batches = 25, .uneven = true});
}
BENCHMARK_CAPTURE(large_grid, reference, run_reference)
    ->Unit(benchmark::kMillisecond)
    ->Iterations(1);
BENCHMARK_CAPTURE(large_grid, event, run_event)->Unit(benchmark::kMillisecond)->Iterations(1);

// A fabric of `links` links with `demands` transfers over four of them each.
void max_min(benchmark::State& state)
{
    const auto links = static_cast<std::size_t>(state.range(0)) / 4;
    Random random(1);
    std::vector<ByteRate> capacities;
    for (std::size_t l = 0; l < links; ++l)
        capacities.emplace_back(static_cast<std::uint64_t>(random.integer(1, 8)) * 50'000'000'000);
    std::vector<std::vector<LinkUse>> paths;
    for (std::int64_t d = 0; d < state.range(0); ++d) {
        auto& path = paths.emplace_back();
        for (int i = 0; i < 4; ++i)
            path.push_back({make_id<LinkId>(static_cast<std::size_t>(
                random.integer(0, static_cast<std::int64_t>(links) - 1)))});
    }
    std::vector<engine::Demand> demands;
    for (const auto& path : paths)
        demands.push_back({ByteRate(50'000'000'000), path});
    engine::FairSharing sharing(capacities);
    for (auto _ : state)
        benchmark::DoNotOptimize(sharing.solve(demands).data());
}
BENCHMARK(max_min)->Arg(100)->Arg(1000)->Arg(8000)->Unit(benchmark::kMicrosecond);

} // namespace

BENCHMARK_MAIN();
