#include "sim/study/loader_need.h"

#include "sim/strategy/bind/loader_costs.h"
#include "sim/study/breakdown.h"

#include <algorithm>

namespace trainyard {

namespace {

// The longest that a rank waits for data in a step.
Seconds longest_wait(const StepResult& result)
{
    SimTime longest{};
    for (const LaneTotals& lane : result.lanes)
        longest = std::max(longest, lane.time[index_of(TimeKind::data)]);
    return to_seconds(longest);
}

} // namespace

double needed_samples(const Outcome& outcome)
{
    const Job& job = outcome.job;
    const Seconds rest = to_seconds(outcome.result->step_time) - longest_wait(*outcome.result);
    const auto samples = static_cast<double>(job.training.micro_batch * job.micro_batches());
    return rest.value() > 0 ? samples / rest.value() : 0;
}

// Workers that wait for reads need no core.
std::optional<int> enough_workers(const Outcome& outcome, const LoaderRates& rates, double needed)
{
    Job job = outcome.job;
    for (int workers = 1; workers <= most_workers; ++workers) {
        job.data->loading.workers = workers;
        if (loader_rates(job, rates.placement, *outcome.cost).workers >= needed)
            return workers;
    }
    return std::nullopt;
}

int useful_workers(const Outcome& outcome)
{
    const LoaderRates rates =
        loader_rates(*outcome.plan, outcome.job, *outcome.topology, *outcome.cost);
    if (const auto enough = enough_workers(outcome, rates, needed_samples(outcome)))
        return *enough;
    Job job = outcome.job;
    int best = 1;
    double most = 0;
    for (int workers = 1; workers <= most_workers; ++workers) {
        job.data->loading.workers = workers;
        const double made = loader_rates(job, rates.placement, *outcome.cost).workers;
        if (made > most) {
            most = made;
            best = workers;
        }
    }
    return best;
}

} // namespace trainyard
