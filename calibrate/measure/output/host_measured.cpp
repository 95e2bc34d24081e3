#include "calibrate/measure/output/host_measured.h"

#include "calibrate/measure/output/measured_values.h"
#include "calibrate/measure/output/run_environment.h"
#include "calibrate/measure/output/sweeps.h"

#include <fmt/core.h>

#include <algorithm>

namespace trainyard {
namespace {

void take_kernel(const WorkTime& time, const LocalWork& local, HostMeasured& out,
                 Bytes& largest_sum)
{
    if (local.kind == LocalKind::gemm && local.type == ElementType::float32 && local.batch == 1)
        out.products.push_back({local.m, local.n, local.k, Seconds(time.seconds.value)});
    // Passes of optimizers and layers mostly write where they have read. Copies do not: what they
    // write into is fetched besides, or goes around the caches, and fewer bytes count. The largest
    // is farthest from any cache.
    if (local.kind == LocalKind::memory_add && local.size > largest_sum) {
        largest_sum = local.size;
        out.memory_bandwidth = rate_of(3.0 * static_cast<double>(local.size.value()), time.seconds);
    }
}

HostLibrary library_of(const MeasuredRun& run, const std::vector<WorkTime>& times)
{
    HostLibrary out;
    out.backend = from_name<Backend>(run.backend).value_or(Backend::gloo);
    std::vector<MeasuredValue> latencies;
    std::vector<MeasuredValue> rates;
    for (const WorkTime& time : times)
        if (std::holds_alternative<PingPongWork>(time.work))
            latencies.push_back(time.seconds);
        else if (const auto* exchange = std::get_if<ExchangeWork>(&time.work);
                 exchange != nullptr && exchange->messages.size() == 1)
            rates.push_back(rate_of(static_cast<double>(exchange->size.value()), time.seconds));
    if (!latencies.empty())
        out.latency = middle_of(std::move(latencies));
    if (!rates.empty())
        out.rate = middle_of(std::move(rates));
    const Slowdowns beside = slowdowns(times, LocalKind::gemm);
    out.compute_moving = beside.compute_lost;
    out.transfer_slowdown = beside.transfer;
    return out;
}

} // namespace

HostMeasured host_measured(const MeasuredRun& run)
{
    HostMeasured out;
    const std::vector<WorkTime> times = work_times(run);
    Bytes largest_sum;
    for (const WorkTime& time : times)
        if (const auto* local = std::get_if<LocalWork>(&time.work))
            take_kernel(time, *local, out, largest_sum);
    out.sweeps = collective_sweeps(run);
    if (run.ranks.size() > 1)
        out.libraries.push_back(library_of(run, times));
    out.ranks = static_cast<int>(run.ranks.size());
    out.source = fmt::format("trainyard calibrate, {}, {}",
                             run.ranks.empty() ? "" : run.ranks.front().host, run.started);
    out.environment = environment_of(run);
    if (!run.ranks.empty()) {
        out.cpu = run.ranks.front().facts.device;
        out.memory = run.ranks.front().facts.memory;
    }
    return out;
}

} // namespace trainyard
