#include "sim/strategy/bound/step_bound.h"
#include "tests/catch.h"
#include "tests/property/random_laws.h"
#include "tests/unit/strategy/plans.h"

#include <algorithm>

namespace trainyard::testing {

namespace {

constexpr DeviceMemory device{.capacity = Bytes(0), // without limit
                              .context = Bytes(500'000'000),
                              .per_communicator = Bytes(10'000'000),
                              .matrix_library = {}};

// Steps until they repeat: a loader's first ones wait for its workers.
int steps_of(const Job& job)
{
    return job.data ? 5 : 2;
}

// The bound of the step time over what the engine finds.
double checked_ratio(const Job& job, const Topology& cluster, const CostModel& cost)
{
    const StepBound bound = step_bound(job, cluster, cost, device);
    const Plan plan = make_plan(job);
    BindOptions options;
    options.folding = Folding::replicas;
    const Binding binding = bind(plan, job, cluster, cost, options);
    const Seconds time = to_seconds(run(plan.program, binding, steps_of(job)).step_time);
    const MemoryEstimate memory =
        estimate_memory(job, plan.program, device, {.view = AllocatorView::nobody});
    CHECK(bound.time.value() <= time.value());
    CHECK(bound.memory.value() <= memory.peak().value());
    return bound.time / time;
}

} // namespace

void check_bounds(const Draws& draws)
{
    const Topology cluster = cluster_for_random_jobs();
    Profile profile = h100_costs().profile();
    std::vector<double> ratios;
    each_job(draws, random_request, [&](const JobRequest&, const Job& job) {
        if (is_single_process(job))
            return;
        profile.software = job.software;
        ratios.push_back(checked_ratio(job, cluster, CostModel(profile)));
    });
    CHECK(2 * ratios.size() > static_cast<std::size_t>(draws.jobs));
    const auto median = ratios.begin() + static_cast<std::ptrdiff_t>(ratios.size() / 2);
    std::ranges::nth_element(ratios, median);
    CHECK(*median > 0.9);
}

} // namespace trainyard::testing
