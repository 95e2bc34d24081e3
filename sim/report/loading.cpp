#include "sim/report/loading.h"

#include "sim/base/units.h"
#include "sim/report/figures.h"
#include "sim/strategy/bind/loader_costs.h"
#include "sim/study/loader_need.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

namespace trainyard {

template <>
std::vector<EnumName<LoaderLink>> enum_names<LoaderLink>()
{
    return {{LoaderLink::storage, "storage"},
            {LoaderLink::workers, "workers"},
            {LoaderLink::copy, "copy"}};
}

namespace {

void find_slowest(Loading& loading)
{
    const LoaderRates& rates = loading.rates;
    loading.slowest = LoaderLink::workers;
    loading.slowest_rate = rates.workers;
    if (rates.storage < loading.slowest_rate) {
        loading.slowest = LoaderLink::storage;
        loading.slowest_rate = rates.storage;
    }
    if (rates.copy < loading.slowest_rate) {
        loading.slowest = LoaderLink::copy;
        loading.slowest_rate = rates.copy;
    }
}

std::string rate_text(double samples)
{
    return std::isfinite(samples) ? fmt::format("{} samples/s", to_display_count(samples))
                                  : std::string("any number of samples/s");
}

std::string workers_advice(const Loading& loading)
{
    const bool reads = loading.rates.waiting_share > 0.5; // most of a worker's time
    const std::string faster =
        reads ? "records read in order, or a nearer storage"
              : "a faster decoder, raw pixels in records, or decoding on the GPU";
    if (!loading.enough_workers)
        return fmt::format("no number of workers on these cores is enough: {}", faster);
    const std::string slow_reads =
        reads ? " (records read in order would spare most of their time)" : "";
    if (*loading.enough_workers <= std::max(loading.workers, 1))
        return loading.workers == 0
                   ? fmt::format("1 worker per rank is enough, loading ahead{}", slow_reads)
                   : fmt::format("load further ahead (data.prefetch), and copy ahead of compute{}",
                                 slow_reads);
    return fmt::format("{} workers per rank instead of {}{}; else {}", *loading.enough_workers,
                       loading.workers, slow_reads, faster);
}

} // namespace

std::optional<Loading> loading_of(const Outcome& outcome)
{
    if (!outcome.job.data)
        return std::nullopt;
    const Job& job = outcome.job;
    Loading out;
    out.rates = loader_rates(*outcome.plan, job, *outcome.topology, *outcome.cost);
    out.workers = job.data->loading.workers;
    out.needed = needed_samples(outcome);
    find_slowest(out);
    out.enough_workers = enough_workers(outcome, out.rates, out.needed);
    const double node = out.needed * out.rates.placement.ranks_per_node * (1 - out.rates.hit_share);
    out.enough_storage = Bandwidth(node * static_cast<double>(out.rates.sample.stored.value()));
    const double per_node =
        out.rates.storage * out.rates.placement.ranks_per_node * (1 - out.rates.hit_share);
    const StorageClass& storage = job.data->storage;
    out.small_reads_limit =
        std::isfinite(per_node) &&
        per_node * static_cast<double>(out.rates.sample.stored.value()) <
            0.99 * job.data->loading.storage_rate.value_or(storage.node_rate).value();
    return out;
}

std::string loading_evidence(const Loading& loading)
{
    const std::string part = loading.slowest == LoaderLink::storage ? "storage gives"
                             : loading.slowest == LoaderLink::copy  ? "copies to the device reach"
                             : loading.workers == 0 ? "the training process itself makes"
                                                    : "workers make";
    const bool reads = loading.slowest == LoaderLink::workers && loading.rates.waiting_share > 0.5;
    return fmt::format("{} {} per rank{}, the rest of the step could take {}", part,
                       rate_text(loading.slowest_rate),
                       reads ? fmt::format(" ({} of their time waits for small reads)",
                                           percent(loading.rates.waiting_share))
                             : "",
                       rate_text(loading.needed));
}

std::string loading_advice(const Loading& loading)
{
    switch (loading.slowest) {
    case LoaderLink::storage:
        return fmt::format("{} of storage per node{}, a page cache that holds the data set, or "
                           "smaller samples",
                           to_display(loading.enough_storage),
                           loading.small_reads_limit ? " in large reads (records, not files)" : "");
    case LoaderLink::copy:
        return "copy ahead of compute from page-locked memory (data.copy, data.pinned), and fewer "
               "bytes per sample (data.element_bytes)";
    case LoaderLink::workers:
        break;
    }
    return workers_advice(loading);
}

} // namespace trainyard
