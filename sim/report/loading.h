#pragma once

// Whether samples come fast enough, and what would be enough.

#include "sim/strategy/data/loader_rates.h"
#include "sim/study/outcome.h"

namespace trainyard {

enum class LoaderLink : std::uint8_t { storage, workers, copy };
template <>
std::vector<EnumName<LoaderLink>> enum_names<LoaderLink>();

// Samples per second of one rank that loads.
struct Loading {
    LoaderRates rates;
    int workers = 0;
    double needed = 0; // if the step did not wait: its batch / the time it does not wait for data
    LoaderLink slowest = LoaderLink::workers;
    double slowest_rate = 0;
    std::optional<int> enough_workers; // per rank; none: no number on these cores is
    Bandwidth enough_storage;          // of a node, in bytes
    bool small_reads_limit = false;    // their number, not their bytes, bounds the storage
};

// Nothing when the job loads no data.
std::optional<Loading> loading_of(const Outcome& outcome);

// "workers make 312 samples/s per rank where 2460 are needed", and what helps.
std::string loading_evidence(const Loading& loading);
std::string loading_advice(const Loading& loading);

} // namespace trainyard
