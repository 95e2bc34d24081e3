#pragma once

// Logs of nccl-tests as a run would print them, and the same run in the JSON of nccl-tests.

#include "calibrate/import/sweep.h"
#include "sim/base/json.h"

#include <string>

namespace trainyard::testing {

struct RunOfTests {
    CollectiveKind collective = CollectiveKind::all_reduce;
    int ranks = 8;
    Bandwidth bus{400e9}; // at any size, beside 10 us of latency
    std::uint64_t smallest = 1024;
    std::uint64_t largest = std::uint64_t{1} << 30;
};

// The rows of such a run, without a heading, as nccl-tests prints them.
std::string rows_of(const RunOfTests& run);

// What nccl-tests prints: configuration, devices on one host, heading, rows, closing lines.
std::string log_of(const RunOfTests& run);

inline const std::string heading =
    "#       size         count      type   redop    root     time   algbw   busbw #wrong     time"
    "   algbw   busbw #wrong\n";

// `sweep` as `nccl-tests -J` writes it, with one secret in the environment.
Json nccl_tests_json(const Sweep& sweep);

} // namespace trainyard::testing
