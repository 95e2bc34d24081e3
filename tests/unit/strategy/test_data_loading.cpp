// How samples come to the devices: rates of the loader's parts, the page cache, and the step that
// waits.

#include "sim/strategy/bind/loader_costs.h"
#include "sim/strategy/data/page_cache.h"
#include "tests/catch.h"
#include "tests/unit/strategy/plans.h"

#include <list>
#include <random>
#include <unordered_map>

using namespace trainyard;
using namespace trainyard::literals;
using namespace trainyard::testing;

namespace {

DataSource source(const DataLoading& loading)
{
    DataSource data;
    data.loading = loading;
    data.storage.node_rate = 10_GBps;
    data.storage.latency = 1.0_ms;
    data.host.decode.pillow = 500;
    data.host.contention = 0.25;
    data.host.hyper_thread_gain = 0.3;
    data.host.collate = 2_GBps;
    data.host.pageable_copy = 0.5;
    return data;
}

// Images of 1000 elements through one layer, `micro_batches` of one image.
Job image_job(const DataLoading& loading, int micro_batches = 1)
{
    LayerList layers;
    layers.layers.push_back({.name = "product", .parameters = 1000, .rows = 8, .columns = 8});
    layers.sample_elements = 1000;
    JobRequest request;
    request.model = {"images", layers};
    request.training.global_batch = micro_batches;
    request.strategy.dp = 1;
    request.data = source(loading);
    const Checked<Job> job = resolve(request);
    if (!job)
        FAIL(render(job.error(), ""));
    return *job;
}

struct Times { // of one micro-batch
    Seconds read;
    Seconds make;
    Seconds copy;
    Seconds compute = 10.0_ms;
};

// The step with one layer that takes `compute` per micro-batch, and the time it waits for data.
struct Step {
    double total = 0; // ms
    double data = 0;
};
Step step(const DataLoading& loading, const Times& times, int micro_batches = 1, int steps = 5)
{
    const Job job = image_job(loading, micro_batches);
    const Plan plan = make_plan(job);
    const Binding bound = bind(plan, job, h100_nodes(1), h100_costs(), {});
    const auto duration = [&](const ComputeRequest& request) {
        switch (request.loader) {
        case LoaderPart::read:
            return times.read;
        case LoaderPart::make:
            return times.make;
        case LoaderPart::copy:
            return times.copy;
        case LoaderPart::read_and_make:
            return times.read + times.make;
        case LoaderPart::wait:
            return Seconds(0);
        case LoaderPart::none:
            break;
        }
        return request.phase == Phase::forward ? times.compute : Seconds(0);
    };
    const StepResult result =
        run(plan.program, with_costs(bound, plan, {duration, nullptr, Seconds(0)}), steps);
    const SimTime data = result.lanes.front().time[static_cast<std::size_t>(TimeKind::data)];
    return {to_seconds(result.step_time).value() * 1e3, to_seconds(data).value() * 1e3};
}

DataLoading ahead()
{
    DataLoading loading;
    loading.copy = HostCopy::ahead;
    return loading;
}

LoaderRates rates(const DataLoading& loading, LoaderPlacement placement = {})
{
    return loader_rates(image_job(loading), placement, h100_costs());
}

} // namespace

TEST_CASE("a step takes as long as the slowest of reading, making, copying and computing")
{
    for (const int micro_batches : {1, 3, 8}) {
        CAPTURE(micro_batches);
        const double m = micro_batches;
        CHECK(step(ahead(), {1.0_ms, 2.0_ms, 3.0_ms}, micro_batches).total == Approx(10 * m));
        CHECK(step(ahead(), {17.0_ms, 2.0_ms, 3.0_ms}, micro_batches).total == Approx(17 * m));
        CHECK(step(ahead(), {1.0_ms, 18.0_ms, 3.0_ms}, micro_batches).total == Approx(18 * m));
        CHECK(step(ahead(), {1.0_ms, 2.0_ms, 19.0_ms}, micro_batches).total == Approx(19 * m));
    }
}

TEST_CASE("what a step waits for its samples is counted as data, and nothing else is")
{
    const Step bound = step(ahead(), {1.0_ms, 25.0_ms, 1.0_ms}, 2);
    CHECK(bound.data == Approx(50 - 20));
    CHECK(step(ahead(), {9.0_ms, 9.0_ms, 9.0_ms}, 2).data == Approx(0).margin(1e-9));
}

TEST_CASE("steps repeat from the fifth on, however far the loader runs ahead")
{
    for (const int prefetch : {1, 4, 64})
        for (const int micro_batches : {1, 2, 5})
            for (const Seconds make : {4.0_ms, 9.5_ms, 11.0_ms, 40.0_ms}) {
                DataLoading loading = ahead();
                loading.workers = 1;
                loading.prefetch = prefetch;
                const Times times{3.0_ms, make, 2.0_ms};
                CAPTURE(prefetch, micro_batches, make.value());
                CHECK(step(loading, times, micro_batches, 5).total ==
                      Approx(step(loading, times, micro_batches, 20).total));
            }
}

TEST_CASE("a loader that takes no time leaves the step as it is without one")
{
    Job without = image_job({}, 4);
    without.data = std::nullopt;
    const Plan plan = make_plan(without);
    const Binding bound = bind(plan, without, h100_nodes(1), h100_costs(), {});
    const double step_time =
        to_seconds(run(plan.program,
                       with_costs(bound, plan, {phase_costs(10.0_ms, Seconds(0)), nullptr}), 3)
                       .step_time)
            .value() *
        1e3;
    for (const HostCopy copy : {HostCopy::blocking, HostCopy::non_blocking, HostCopy::ahead})
        for (const int workers : {0, 1, 8}) {
            DataLoading loading;
            loading.copy = copy;
            loading.workers = workers;
            CHECK(step(loading, {}, 4).total == Approx(step_time));
        }
}

TEST_CASE("without workers, and without prefetch, loading and computing follow each other")
{
    DataLoading loading;
    loading.copy = HostCopy::blocking;
    loading.workers = 0;
    // The host reads, makes, copies, then launches; it does so again when the update is done.
    CHECK(step(loading, {3.0_ms, 4.0_ms, 1.0_ms}).total == Approx(3 + 4 + 1 + 10));
    loading.workers = 8;
    loading.prefetch = 0;
    CHECK(step(loading, {3.0_ms, 4.0_ms, 1.0_ms}).total == Approx(3 + 4 + 1 + 10));
    // One batch ahead is read and then made beside compute; the copy stays in order with it.
    loading.workers = 1;
    loading.prefetch = 1;
    CHECK(step(loading, {3.0_ms, 4.0_ms, 1.0_ms}).total == Approx(1 + 10));
    CHECK(step(loading, {9.0_ms, 4.0_ms, 1.0_ms}).total == Approx(9 + 4));
}

TEST_CASE("only the ranks of the first stage load")
{
    Strategy strategy;
    strategy.pp = 2;
    Job job = job_of(small_decoder(), strategy, training_of(4));
    job.data = source({});
    const Plan plan = make_plan(job);
    const auto loads = [&](std::size_t stage) {
        int count = 0;
        for_each_op(plan.program, plan.program.roles[stage],
                    [&](const Block&, const Op& op, const BlockUse&) {
                        count += op.kind == OpKind::copy ? 1 : 0;
                    });
        return count;
    };
    CHECK(loads(0) == 4 * 4); // read, make, free a place, copy, for each micro-batch
    CHECK(loads(1) == 0);
}

TEST_CASE("workers share their process, their cores and their time with small reads")
{
    DataLoading loading;
    loading.order = ReadOrder::sequential;
    loading.format = DataFormat::packed;
    loading.workers = 1;
    // 500 images/s decoded, 4000 bytes collated at 2 GB/s.
    const double alone = 1 / (1.0 / 500 + 4000 / 2e9);
    CHECK(rates(loading).workers == Approx(alone));
    loading.workers = 5; // 5 / (1 + 0.25 x 4)
    CHECK(rates(loading).workers == Approx(alone * 2.5));
    loading.workers = 4096; // 1 / 0.25 however many, had they cores
    loading.cores = 4096;
    CHECK(rates(loading).workers == Approx(alone * 4).epsilon(1e-2));
    loading.workers = 5;
    loading.cores = 20;
    // 40 workers of a node on 20 cores: second threads add 0.3.
    CHECK(rates(loading, {.ranks_per_node = 8}).workers == Approx(alone * 2.5 * 1.3 / 2));
    loading.workers = 1;
    loading.format = DataFormat::jpeg; // a file each: 1 ms
    CHECK(rates(loading).workers == Approx(1 / (1.0 / 500 + 4000 / 2e9 + 1e-3)));
    CHECK(rates(loading).waiting_share == Approx(1e-3 / (1.0 / 500 + 4000 / 2e9 + 1e-3)));
}

TEST_CASE("workers that wait for small reads leave their cores to others")
{
    DataLoading loading;
    loading.format = DataFormat::jpeg;
    loading.cores = 1;
    loading.workers = 1000;
    DataSource far = source(loading);
    far.storage.latency = Seconds(100.0);
    Job job = image_job(loading);
    job.data = far;
    // 1000 workers, each 100 s in a read and 2 ms on a core: ten samples per second, two hundredths
    // of a core, so none meets another.
    CHECK(loader_rates(job, {}, h100_costs()).workers == Approx(10).epsilon(1e-3));
    // Rates balance: what the waiting bring in is what the running make.
    job.data->storage.latency = 1.0_ms;
    job.data->loading.cores = 4;
    job.data->loading.workers = 6;
    const LoaderRates balance = loader_rates(job, {}, h100_costs());
    CHECK(balance.workers == Approx(6 * balance.waiting_share / 1e-3));
}

TEST_CASE("more workers than the processor has threads change nothing")
{
    DataLoading loading;
    loading.format = DataFormat::packed;
    loading.order = ReadOrder::sequential;
    loading.cores = 12;
    loading.workers = 24;
    const double full = rates(loading).workers;
    // 12 cores and 12 second threads at 0.3, 24 at once: 15.6 / (1 + 0.25 x 23) of one alone.
    CHECK(full == Approx(15.6 / 6.75 / (1.0 / 500 + 4000 / 2e9)));
    loading.workers = 4096;
    CHECK(rates(loading).workers == Approx(full));
}

TEST_CASE("storage is shared by the ranks of a node, and by nodes where it is one server")
{
    DataLoading loading;
    loading.format = DataFormat::packed;
    loading.order = ReadOrder::sequential;
    loading.sample_bytes = Bytes(100'000);
    CHECK(rates(loading).storage == Approx(10e9 / 1e5));
    CHECK(rates(loading, {.ranks_per_node = 8}).storage == Approx(10e9 / 1e5 / 8));
    DataSource server = source(loading);
    server.storage.total_rate = 12_GBps;
    server.storage.total_reads = 6000;
    Job job = image_job(loading);
    job.data = server;
    CHECK(loader_rates(job, {8, 4}, h100_costs()).storage == Approx(12e9 / 4 / 1e5 / 8));
    job.data->loading.order = ReadOrder::shuffled; // 6000 reads/s of all
    CHECK(loader_rates(job, {8, 4}, h100_costs()).storage == Approx(6000.0 / 4 / 8));
}

TEST_CASE("a warm page cache that holds the data set leaves storage out")
{
    DataLoading loading;
    loading.dataset = 100_GB;
    loading.page_cache = 200_GB;
    CHECK(rates(loading).hit_share == 1.0);
    CHECK(rates(loading).storage > 1e300);
    CHECK(rates(loading).waiting_share == 0.0);
    loading.epoch = Epoch::first;
    CHECK(rates(loading).hit_share == 0.0);
    CHECK(rates(loading).storage == Approx(10e9 / 110e3));
}

TEST_CASE("pageable memory slows copies as the host's class says")
{
    DataLoading loading;
    loading.copy = HostCopy::blocking;
    const double pinned = rates(loading).copy;
    loading.pinned = false;
    CHECK(rates(loading).copy == Approx(pinned / 2));
}

namespace {

// Share of reads that hit a least-recently-used cache in the last epochs of node 0.
double simulated_hits(int samples, int cached, int nodes, int epochs)
{
    std::mt19937 random(7);
    std::vector<int> order(static_cast<std::size_t>(samples));
    for (int i = 0; i < samples; ++i)
        order[static_cast<std::size_t>(i)] = i;
    std::list<int> recent; // most recent first
    std::unordered_map<int, std::list<int>::iterator> place;
    int hits = 0;
    int reads = 0;
    for (int epoch = 0; epoch < epochs; ++epoch) {
        std::shuffle(order.begin(), order.end(), random);
        for (int i = 0; i < samples / nodes; ++i) {
            const int sample = order[static_cast<std::size_t>(i)];
            const auto found = place.find(sample);
            if (epoch >= epochs / 2) {
                ++reads;
                hits += found != place.end() ? 1 : 0;
            }
            if (found != place.end())
                recent.erase(found->second);
            recent.push_front(sample);
            place[sample] = recent.begin();
            if (static_cast<int>(recent.size()) > cached) {
                place.erase(recent.back());
                recent.pop_back();
            }
        }
    }
    return static_cast<double>(hits) / reads;
}

} // namespace

TEST_CASE("shuffled epochs hit a least-recently-used cache as often as a simulated one")
{
    for (const int nodes : {1, 2, 5})
        for (const double cached : {0.1, 0.35, 0.5, 0.8, 0.95}) {
            CAPTURE(nodes, cached);
            const int samples = 4000;
            const int epochs = 12 * nodes + 8;
            CHECK(shuffled_hit_share(cached, nodes) ==
                  Approx(simulated_hits(samples, static_cast<int>(cached * samples), nodes, epochs))
                      .margin(0.01));
        }
    // One node, half the data set: 0.5 + 0.5 ln 0.5.
    CHECK(shuffled_hit_share(0.5, 1) == Approx(0.1534).margin(1e-4));
    CHECK(shuffled_hit_share(1.5, 3) == 1.0);
    // In one order each node reads its part again: half the data set holds all of one of two parts.
    CHECK(sequential_hit_share(0.99, 1) == 0.0);
    CHECK(sequential_hit_share(0.5, 2) == 1.0);
    CHECK(sequential_hit_share(0.49, 2) == 0.0);
}

TEST_CASE("loading that cannot be is refused with what works")
{
    const auto refused = [](const Model& model, const DataLoading& loading) {
        JobRequest request;
        request.model = model;
        request.training.global_batch = 1;
        request.data = source(loading);
        const Checked<Job> job = resolve(request);
        REQUIRE_FALSE(job.has_value());
        return render(job.error(), "");
    };
    DataLoading loading;
    loading.format = DataFormat::jpeg;
    CHECK(refused(small_decoder(), loading).find("transformers read tokens") != std::string::npos);
    loading = {};
    loading.pinned = false;
    CHECK(refused(small_decoder(), loading).find("page-locked") != std::string::npos);
}
