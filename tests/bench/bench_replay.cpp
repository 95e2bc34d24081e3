// The replay tier at cluster scale, beside the reference engine where that ends in a minute.

#include "sim/engine/replay/replay.h"
#include "tests/support/grid_job.h"

#include <benchmark/benchmark.h>

#include <fstream>
#include <string>

using namespace trainyard;

namespace {

// Resident memory in bytes: now, or the most so far.
double resident(const char* field)
{
    std::ifstream status("/proc/self/status");
    for (std::string line; std::getline(status, line);)
        if (line.starts_with(field))
            return 1024.0 * std::stod(line.substr(line.find(':') + 1));
    return 0;
}

test::GridShape shape(std::uint32_t dp)
{
    return {.tp = 8, .pp = 16, .dp = dp, .layers = 8, .micro_batches = 25, .uneven = true};
}

void replay_grid(benchmark::State& state, const test::GridShape& shape)
{
    const test::GridJob job = test::grid_job(shape);
    const double before = resident("VmRSS");
    std::uint64_t ops = 0;
    for (auto _ : state) {
        RunControl control;
        control.steps = 1;
        const auto result = engine::run_replay(job.program, job.binding, control);
        if (!result) {
            state.SkipWithError(result.error().reason.c_str());
            return;
        }
        ops += result->ops;
    }
    state.counters["ops"] = static_cast<double>(ops) / static_cast<double>(state.iterations());
    state.counters["MB"] = (resident("VmHWM") - before) * 1e-6;
}

void grid(benchmark::State& state)
{
    replay_grid(state, shape(static_cast<std::uint32_t>(state.range(0)) / 128));
}
BENCHMARK(grid)->Arg(16'384)->Arg(65'536)->Unit(benchmark::kMillisecond);

void grid_with_interference(benchmark::State& state)
{
    test::GridShape slowed = shape(static_cast<std::uint32_t>(state.range(0)) / 128);
    slowed.sm_share = full_share / 8;
    slowed.traffic_share = full_share / 4;
    slowed.free_messages = true;
    replay_grid(state, slowed);
}
BENCHMARK(grid_with_interference)->Arg(16'384)->Unit(benchmark::kMillisecond);

} // namespace

BENCHMARK_MAIN();
