// What the rules of the bottleneck look at, measured on an outcome.

#include "sim/report/bottleneck.h"
#include "sim/report/collectives.h"
#include "sim/report/traffic.h"

#include <fmt/format.h>

#include <algorithm>

namespace trainyard {

namespace {

// The group that weighs most in exposed communication, and how hard it drives the NICs.
void add_heaviest_group(Symptoms& symptoms, const Outcome& outcome)
{
    const TransferTotals* heaviest = nullptr;
    for (const TransferTotals& totals : outcome.result->transfers)
        if (heaviest == nullptr || totals.exposed_seconds > heaviest->exposed_seconds)
            heaviest = &totals;
    if (heaviest == nullptr)
        return;
    symptoms.group = heaviest->group;
    symptoms.group_ranks = 1;
    for (const CollectiveRow& row : collective_rows(outcome))
        if (row.group == heaviest->group)
            symptoms.group_ranks = row.ranks;
    const TrafficSplit split = traffic_split(outcome, heaviest->collective, heaviest->group);
    symptoms.across_domains = split.outside > 0;
    const double nic = nic_rate_per_gpu(outcome).value();
    if (heaviest->transfer_seconds > 0 && nic > 0)
        symptoms.line_rate_share =
            heaviest->bytes * split.outside / heaviest->transfer_seconds / nic;
}

double compute_of(const LaneTotals& lane)
{
    double sum = 0;
    for (const TimeKind kind : time_kinds())
        if (class_of(kind) == TimeClass::compute)
            sum += to_seconds(lane.time[index_of(kind)]).value();
    return sum;
}

void add_imbalance(Symptoms& symptoms, const Outcome& outcome)
{
    const std::vector<LaneTotals>& lanes = outcome.result->lanes;
    const auto busiest =
        std::max_element(lanes.begin(), lanes.end(), [](const LaneTotals& a, const LaneTotals& b) {
            return compute_of(a) < compute_of(b);
        });
    const double step = to_seconds(outcome.result->step_time).value();
    const double mean = mean_over_ranks(*outcome.result, *outcome.binding, compute_of);
    if (busiest == lanes.end() || step <= 0)
        return;
    symptoms.imbalance = (compute_of(*busiest) - mean) / step;
    const Lane& lane = outcome.binding->lanes[static_cast<std::size_t>(busiest - lanes.begin())];
    symptoms.busiest = outcome.plan->program.roles.size() > 1
                           ? fmt::format("stage {}", lane.role.value)
                           : fmt::format("rank {}", lane.rank.value);
}

} // namespace

Symptoms symptoms_of(const Outcome& outcome)
{
    Symptoms symptoms;
    const Seconds step = to_seconds(outcome.result->step_time);
    const TimeShares mean = mean_shares(*outcome.result, *outcome.binding);
    for (std::size_t i = 0; i < time_kind_count; ++i)
        symptoms.share[i] = step.value() > 0 ? mean[i] / step : 0.0;
    symptoms.needed = outcome.memory.peak();
    symptoms.capacity = outcome.memory.capacity;
    symptoms.fullest_stage = outcome.memory.fullest_stage;
    symptoms.domain_ranks = outcome.topology->device_count() / outcome.topology->domain_count();
    symptoms.micro_batches = outcome.job.micro_batches();
    symptoms.stages = outcome.job.strategy.pp;
    add_heaviest_group(symptoms, outcome);
    add_imbalance(symptoms, outcome);
    return symptoms;
}

} // namespace trainyard
