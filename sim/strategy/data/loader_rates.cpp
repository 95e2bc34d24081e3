#include "sim/strategy/data/loader_rates.h"

#include "sim/strategy/data/page_cache.h"

#include <algorithm>
#include <limits>

namespace trainyard {

namespace {

constexpr double unlimited = std::numeric_limits<double>::infinity();

// ImageNet's training set: 138 GB in 1.28 million JPEGs.
constexpr std::uint64_t mean_jpeg_bytes = 110'000;

double per_second(Seconds time)
{
    return time.value() > 0 ? 1 / time.value() : unlimited;
}

bool decodes(DataFormat format)
{
    return format == DataFormat::jpeg || format == DataFormat::packed;
}

// A file per sample is opened and read for itself; parts of large files only when shuffled.
bool small_reads(const DataLoading& loading, DataFormat format)
{
    return format == DataFormat::jpeg || loading.order == ReadOrder::shuffled;
}

double hit_share(const DataLoading& loading, int nodes)
{
    if (loading.epoch == Epoch::first || loading.dataset.value() == 0)
        return 0;
    const double cached = loading.page_cache / loading.dataset;
    return loading.order == ReadOrder::shuffled ? shuffled_hit_share(cached, nodes)
                                                : sequential_hit_share(cached, nodes);
}

// Samples per second that the storage gives one node when nothing is cached.
double storage_of_node(const DataSource& data, Bytes stored, bool small, int nodes)
{
    const StorageClass& storage = data.storage;
    const double bytes = static_cast<double>(stored.value());
    const auto least = [](double limit, double more) {
        return more > 0 ? std::min(limit, more) : limit;
    };
    double rate = data.loading.storage_rate.value_or(storage.node_rate).value() / bytes;
    if (!data.loading.storage_rate)
        rate = least(rate, storage.total_rate.value() / bytes / nodes);
    if (!small)
        return rate;
    return least(least(rate, storage.node_reads), storage.total_reads / nodes);
}

// A worker's time on a core of its own for one sample.
Seconds processing_time(const DataSource& data, DataFormat format, const SampleSize& sample)
{
    if (data.loading.decode_rate)
        return Seconds(1 / *data.loading.decode_rate);
    const Seconds collate = sample.in_batch / data.host.collate;
    return decodes(format) ? collate + Seconds(1 / data.host.decode.at(data.loading.decoder))
                           : collate;
}

// The cores of a node as the workers of one of its ranks have them.
struct WorkerCores {
    double cores = 1; // a rank's share
    double second_thread = 0;
    double contention = 0;

    // What `running` workers do at once, in workers that have a core and no company.
    double work(double running) const
    {
        const double threads = second_thread > 0 ? 2 * cores : cores;
        const double company = std::max(std::min(running, threads) - 1, 0.0);
        const double doubled = std::clamp(running - cores, 0.0, cores);
        return (std::min(running, cores) + second_thread * doubled) / (1 + contention * company);
    }
};

// How many of `workers` run: the others wait for small reads. As many samples come from reads as
// are made, (w - r) / latency = work(r) / processing; found by halving.
double running_workers(int workers, Seconds latency, Seconds processing, const WorkerCores& cores)
{
    if (latency.value() <= 0)
        return workers;
    const double reads = processing / latency;
    double few = 0;
    double many = workers;
    for (int halving = 0; halving < 64; ++halving) {
        const double running = (few + many) / 2;
        (cores.work(running) < reads * (workers - running) ? few : many) = running;
    }
    return many;
}

} // namespace

DataFormat format_of(const Job& job)
{
    return job.data->loading.format.value_or(job.model.is_transformer() ? DataFormat::tokens
                                                                        : DataFormat::jpeg);
}

SampleSize sample_size(const Job& job)
{
    const DataLoading& loading = job.data->loading;
    SampleSize size;
    if (const auto* transformer = std::get_if<Transformer>(&job.model.architecture)) {
        const auto length = static_cast<std::uint64_t>(job.training.sequence_length);
        const std::uint64_t token = transformer->vocabulary > 65536 ? 4 : 2;
        size.stored = loading.sample_bytes.value_or(Bytes(token * (length + 1)));
        size.in_batch = Bytes(2 * 8 * length); // inputs and targets, 64 bit each
        return size;
    }
    const auto elements =
        static_cast<std::uint64_t>(std::get<LayerList>(job.model.architecture).sample_elements);
    size.in_batch = Bytes(elements * static_cast<std::uint64_t>(loading.element_bytes));
    size.stored = loading.sample_bytes.value_or(decodes(format_of(job)) ? Bytes(mean_jpeg_bytes)
                                                                        : Bytes(elements));
    return size;
}

LoaderRates loader_rates(const Job& job, const LoaderPlacement& placement, const CostModel& cost)
{
    const DataSource& data = *job.data;
    const DataFormat format = format_of(job);
    LoaderRates out;
    out.placement = placement;
    out.sample = sample_size(job);
    out.hit_share = hit_share(data.loading, placement.nodes);
    const double missed = 1 - out.hit_share;
    const bool small = small_reads(data.loading, format);
    out.storage = missed > 0 ? storage_of_node(data, out.sample.stored, small, placement.nodes) /
                                   placement.ranks_per_node / missed
                             : unlimited;

    const int workers = std::max(data.loading.workers, 1);
    const Seconds latency = small ? data.storage.latency * missed : Seconds(0);
    const Seconds processing = processing_time(data, format, out.sample);
    const WorkerCores cores{static_cast<double>(data.loading.cores) / placement.ranks_per_node,
                            data.host.hyper_thread_gain, data.host.contention};
    const double running = running_workers(workers, latency, processing, cores);
    out.workers = cores.work(running) * per_second(processing);
    out.waiting_share = 1 - running / workers;

    const Seconds copy =
        cost.host_copy(out.sample.in_batch * static_cast<std::uint64_t>(job.training.micro_batch)) /
        (data.loading.pinned ? 1.0 : data.host.pageable_copy);
    out.copy = static_cast<double>(job.training.micro_batch) * per_second(copy);
    return out;
}

Seconds load_time_without_workers(const LoaderRates& rates, double samples)
{
    return Seconds(samples / rates.storage + samples / rates.workers);
}

} // namespace trainyard
