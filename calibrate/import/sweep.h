#pragma once

// One nccl-tests sweep: a collective timed over sizes, in one launch.
//
// What every reader of measured collectives gives and every fit takes. Times are those of the file;
// nothing is smoothed or dropped here.

#include "sim/base/quantity.h"
#include "sim/base/vocabulary.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace trainyard {

// One timing of one size: in place (the output overwrites the input) or out of place.
struct SweepTiming {
    Seconds time;                      // mean over the run's iterations, as nccl-tests gives it
    Bandwidth algorithm_bandwidth;     // as printed; zero where the file has none
    Bandwidth bus_bandwidth;           // as printed; zero where the file has none
    std::optional<std::int64_t> wrong; // results that were wrong; empty when unchecked (N/A)

    bool operator==(const SweepTiming&) const = default;
};

struct SweepRow {
    Bytes size; // as CollectiveKind counts it
    std::int64_t count = 0;
    std::optional<SweepTiming> out_of_place;
    std::optional<SweepTiming> in_place;

    bool operator==(const SweepRow&) const = default;
};

struct Sweep {
    std::string source;   // file or record that it came from
    std::string hardware; // as the source words it; empty when it does not say
    std::string device;   // name of the GPU as the driver prints it; empty when unknown
    CollectiveKind collective = CollectiveKind::all_reduce;
    Backend backend = Backend::nccl;
    int ranks = 0;
    int nodes = 1;
    std::string data_type;          // nccl-tests' word: float, half, bfloat16, int8, ...
    std::string reduction;          // sum, prod, ...; empty: none
    int root = -1;                  // -1: none
    std::string nccl_version;       // "2.28.3"; empty when unknown
    std::string nccl_tests_version; // empty when unknown
    std::string algorithm = "auto"; // forced by NCCL_ALGO
    std::string protocol = "auto";  // forced by NCCL_PROTO
    std::map<std::string, std::string> variables;   // NCCL_*, UCX_*, FI_* that the source shows
    std::optional<Bandwidth> average_bus_bandwidth; // as printed at the end
    std::vector<SweepRow> rows;                     // in the order of the file
    std::vector<std::string> flags;                 // what makes the numbers doubtful

    bool operator==(const Sweep&) const = default;
};

// Size over count x element size: the ranks for collectives whose count is one rank's share
// (all-gather, reduce-scatter, all-to-all), else 1.
bool counts_one_share(CollectiveKind collective);

// Whether it adds elements up.
bool reduces(CollectiveKind collective);

// Bytes of an element of nccl-tests' data type; 0 for an unknown one.
int element_bytes(std::string_view data_type);

// "all_reduce" for all_reduce_perf, AllReduce, allreduce, all-reduce, ...; empty for others.
std::optional<CollectiveKind> collective_named(std::string_view name);

} // namespace trainyard
