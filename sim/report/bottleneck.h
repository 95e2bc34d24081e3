#pragma once

// What holds the step back: one class, and the numbers that say so.

#include "sim/report/breakdown.h"

namespace trainyard {

enum class BottleneckClass : std::uint8_t {
    compute,
    host,
    communication,
    synchronisation,
    network,
    memory,
    bubble,
    data,
    imbalance
};
template <>
std::vector<EnumName<BottleneckClass>> enum_names<BottleneckClass>();

struct Bottleneck {
    BottleneckClass kind = BottleneckClass::compute;
    std::string evidence; // "38 % of the step is exposed tensor-parallel communication across nodes
                          // (tp 16 > 8 GPUs of a node)"
    std::string advice;   // what usually helps

    bool operator==(const Bottleneck&) const = default;
};

// What the rules look at. Shares are of the step, averaged over ranks.
struct Symptoms {
    std::array<double, time_kind_count> share{}; // by TimeKind; sum to 1

    Bytes needed; // of a device's memory, on the fullest stage
    Bytes capacity;
    int fullest_stage = 0;

    // Busiest stage's or rank's compute less the mean, of the step, and where it is.
    double imbalance = 0;
    std::string busiest; // "stage 3", "rank 17"

    // The group whose exposed communication weighs most.
    GroupKind group = GroupKind::world;
    int group_ranks = 1;
    int domain_ranks = 1; // GPUs of an NVLink domain
    bool across_domains = false;
    double line_rate_share = 0; // of the NICs while that group's data moves

    double mfu = 0;
    std::int64_t micro_batches = 1;
    int stages = 1;
};

Symptoms symptoms_of(const Outcome& outcome);

// The rules, in the README of this folder.
Bottleneck find_bottleneck(const Symptoms& symptoms);

} // namespace trainyard
