// The parts of the event engine one by one: rates of flows over links, the queue.

#include "sim/base/random.h"
#include "sim/engine/event_queue.h"
#include "sim/engine/flow/full_sharing.h"
#include "sim/engine/flow/ripple_sharing.h"

#include <benchmark/benchmark.h>

using namespace trainyard;
using namespace trainyard::engine;

namespace {

std::size_t draw(Random& random, std::size_t count)
{
    return static_cast<std::size_t>(random.integer(0, static_cast<std::int64_t>(count) - 1));
}

// Two flows out of every NIC, each to a random one over a random spine: leaves of 32 NICs, half as
// many uplinks (2:1). NIC out, leaf to spine, spine to leaf, NIC in.
struct Fabric {
    explicit Fabric(std::size_t flows)
    {
        Random random(1);
        const std::size_t nics = flows / 2;
        const std::size_t leaves = nics / 32;
        constexpr std::size_t spines = 16;
        capacities.resize(2 * nics + 2 * leaves * spines, ByteRate(50'000'000'000));
        const auto uplink = [&](std::size_t nic, std::size_t spine) {
            return 2 * nics + (nic / 32) * spines + spine;
        };
        for (std::size_t f = 0; f < 4 * flows; ++f) {
            const std::size_t from = f % nics;
            const std::size_t to = draw(random, nics);
            const std::size_t spine = draw(random, spines);
            auto& path = paths.emplace_back();
            for (const std::size_t link :
                 {from, uplink(from, spine), uplink(to, spine) + leaves * spines, nics + to})
                path.push_back({make_id<LinkId>(link)});
        }
    }

    std::vector<ByteRate> capacities;
    std::vector<std::vector<LinkUse>> paths;
};

// One flow ends, another begins.
template <class Sharing>
void swap_flow(benchmark::State& state)
{
    const auto count = static_cast<std::size_t>(state.range(0));
    const Fabric fabric(count);
    Sharing sharing(fabric.capacities);
    Random random(2);
    std::vector<std::uint32_t> flows;
    const auto add = [&] {
        return sharing.add(0, ByteRate(50'000'000'000),
                           fabric.paths[draw(random, fabric.paths.size())]);
    };
    for (std::size_t f = 0; f < count; ++f)
        flows.push_back(add());
    sharing.settle();
    std::uint64_t changes = 0;
    for (auto _ : state) {
        std::uint32_t& flow = flows[draw(random, count)];
        sharing.remove(flow);
        flow = add();
        changes += sharing.settle().size();
    }
    state.counters["rates changed"] =
        static_cast<double>(changes) / static_cast<double>(state.iterations());
}
BENCHMARK_TEMPLATE(swap_flow, FullSharing)->Arg(1024)->Arg(8192)->Unit(benchmark::kMicrosecond);
BENCHMARK_TEMPLATE(swap_flow, RippleSharing)->Arg(1024)->Arg(8192)->Unit(benchmark::kMicrosecond);

// A message between two nodes that nothing disturbs, out of many in flight: two links at the ends,
// four of the fabric.
void flow_life(benchmark::State& state)
{
    const std::vector<ByteRate> capacities(4096, ByteRate(400'000'000'000));
    std::vector<std::vector<LinkUse>> paths(1024);
    Random random(3);
    for (auto& path : paths)
        for (int i = 0; i < 6; ++i)
            path.push_back({make_id<LinkId>(draw(random, capacities.size()))});
    RippleSharing sharing(capacities);
    std::vector<std::uint32_t> flows;
    for (std::size_t f = 0; f < 256; ++f)
        flows.push_back(sharing.add(0, ByteRate(1'000'000'000), paths[f]));
    sharing.settle();
    std::size_t next = 0;
    for (auto _ : state) {
        std::uint32_t& flow = flows[next % flows.size()];
        sharing.remove(flow);
        flow = sharing.add(0, ByteRate(1'000'000'000), paths[next++ % paths.size()]);
        benchmark::DoNotOptimize(sharing.settle().data());
    }
}
BENCHMARK(flow_life);

// Takes the first event and puts one behind it, among that many pending.
void hold(benchmark::State& state)
{
    EventQueue queue;
    Random random(4);
    std::vector<SimTime> spans;
    for (int i = 0; i < 4096; ++i)
        spans.emplace_back(random.integer(1, 100'000'000));
    for (std::int64_t i = 0; i < state.range(0); ++i)
        queue.push(
            {spans[static_cast<std::size_t>(i) % spans.size()], static_cast<std::uint32_t>(i), 0});
    std::size_t next = 0;
    for (auto _ : state) {
        queue.advance();
        Event event = queue.pop();
        event.time += spans[next++ % spans.size()];
        queue.push(event);
    }
}
BENCHMARK(hold)->Arg(1000)->Arg(100'000)->Arg(1'000'000);

} // namespace

BENCHMARK_MAIN();
