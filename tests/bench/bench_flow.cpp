// Collectives that go step by step: rings alone, rings that messages cross, a cluster.

#include "sim/engine/engine.h"
#include "tests/support/flaws.h"
#include "tests/support/grid_links.h"
#include "tests/support/resident_memory.h"
#include "tests/support/ring_job.h"

#include <benchmark/benchmark.h>

using namespace trainyard;

namespace {

void run_job(benchmark::State& state, const test::RingJob& job, Fidelity fidelity)
{
    for (const auto& wrong : {flaws(job.program), flaws(job.program, job.binding)})
        if (!wrong.empty()) {
            state.SkipWithError(wrong[0].c_str());
            return;
        }
    RunControl control;
    control.steps = 1;
    control.fidelity = fidelity;
    std::uint64_t disturbed = 0;
    std::uint64_t ops = 0;
    for (auto _ : state) {
        const auto result = run_event(job.program, job.binding, control);
        if (!result) {
            state.SkipWithError(result.error()[0].message.c_str());
            return;
        }
        disturbed = result->steps.disturbed;
        ops = result->ops;
    }
    state.counters["disturbed"] = static_cast<double>(disturbed);
    state.counters["ops"] = static_cast<double>(ops);
    if (job.sends == 0)
        return;
    state.counters["s/send"] = benchmark::Counter(static_cast<double>(job.sends),
                                                  benchmark::Counter::kIsIterationInvariantRate |
                                                      benchmark::Counter::kInvert);
}

// One all-reduce over 4,096 members, 33.5 M sends.
void ring(benchmark::State& state, Fidelity fidelity, const test::RingShape& shape)
{
    run_job(state, test::ring_job(shape), fidelity);
}
BENCHMARK_CAPTURE(ring, whole, Fidelity::flow, {.members = 4096})->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(ring, equal_links, Fidelity::chunk, {.members = 4096})
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(ring, unequal_links, Fidelity::chunk, {.members = 4096, .uneven = true})
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(ring, two_levels, Fidelity::flow, {.members = 4096, .per_domain = 8})
    ->Unit(benchmark::kMillisecond);

// 64 rings of 128 members, one of whose hops a message halves for the first tenth.
BENCHMARK_CAPTURE(ring, crossed, Fidelity::flow, {.members = 128, .rings = 64, .crossed = true})
    ->Unit(benchmark::kMillisecond);

// As many lanes (TP8 PP16), messages and rings over a spine of half the leaves' width.
void cluster(benchmark::State& state, Fidelity fidelity)
{
    test::GridJob job = test::grid_job({.tp = 8,
                                        .pp = 16,
                                        .dp = static_cast<std::uint32_t>(state.range(0)) / 128,
                                        .layers = 1,
                                        .micro_batches = 16,
                                        .uneven = true});
    test::GridFabric(job).bind();
    const test::MemoryRise rise;
    run_job(state, {std::move(job.program), std::move(job.binding), 0}, fidelity);
    state.counters["MB"] = rise.megabytes();
}
BENCHMARK_CAPTURE(cluster, bundle, Fidelity::bundle)->Arg(16'384)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(cluster, flow, Fidelity::flow)
    ->Arg(16'384)
    ->Arg(65'536)
    ->Unit(benchmark::kMillisecond);

} // namespace

BENCHMARK_MAIN();
