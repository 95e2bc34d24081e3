#pragma once

// How fast a rank's samples come: what each part of its loader gives alone.

#include "sim/cost/cost_model.h"
#include "sim/strategy/job.h"

namespace trainyard {

// Which ranks load: those of the first pipeline stage, each its own micro-batches.
struct LoaderPlacement {
    int ranks_per_node = 1; // that load, on the node with most of them
    int nodes = 1;          // with such ranks

    bool operator==(const LoaderPlacement&) const = default;
};

// Bytes of one sample on its way.
struct SampleSize {
    Bytes stored;
    Bytes in_batch;
};

// Samples per second of one rank; infinite where nothing limits.
struct LoaderRates {
    double storage = 0;       // its share of the storage, misses of the page cache alone
    double workers = 0;       // decoding and copying into batches, waits for small reads included
    double copy = 0;          // to the device
    double hit_share = 0;     // reads that the page cache answers
    double waiting_share = 0; // of a worker's time: small reads under way
    SampleSize sample;
    LoaderPlacement placement;
};

// Requires `job.data`.
//
//   storage = min(rate / bytes, small reads) / ranks / (1 - hits)
//   workers = work(r) / (decode + collate), of which r run and w - r wait for small reads:
//   (w - r) / (latency (1 - hits)) = workers
//   work(r) = threads(r) / (1 + contention (running at once - 1))
//
// with threads(r) = r up to the rank's share of the node's cores, second threads adding the host's
// `hyper_thread_gain` each, and w = 1 without workers. A processor runs no more at once than it has
// threads, so workers beyond that change nothing.
LoaderRates loader_rates(const Job& job, const LoaderPlacement& placement, const CostModel& cost);

DataFormat format_of(const Job& job);
SampleSize sample_size(const Job& job);

// Time for the training process itself to read and make `samples`, one after the other.
Seconds load_time_without_workers(const LoaderRates& rates, double samples);

} // namespace trainyard
