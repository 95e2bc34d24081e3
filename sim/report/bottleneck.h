#pragma once

// What holds the step back: one class, and the numbers that say so.

#include "sim/report/collectives.h"
#include "sim/report/loading.h"
#include "sim/report/traffic.h"
#include "sim/study/breakdown.h"

namespace trainyard {

struct Bottleneck {
    BottleneckClass kind = BottleneckClass::compute;
    std::string evidence; // "38 % of the step is exposed tensor-parallel communication across nodes
                          // (tp 16 > 8 GPUs of a node)"
    std::string advice;   // what usually helps

    bool operator==(const Bottleneck&) const = default;
};

// Devices slower than the rest, and the slowest of them.
struct SlowDevice {
    int device = 0;
    double slowdown = 1.0; // of the slowest, against the fastest device or one as its profile says
    int others = 0;        // that are slow too
    bool sets_the_pace = false;
    double longer = 0; // share of the step that it computes longer for being slow
    double waited = 0; // share of the step that ranks on fast devices wait in collectives, mean

    bool operator==(const SlowDevice&) const = default;
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
    std::optional<SlowDevice> slow;

    // The group whose exposed communication weighs most.
    GroupKind group = GroupKind::world;
    int group_ranks = 1;
    Backend backend = Backend::nccl;
    bool on_cpu = false;  // devices are their hosts' CPUs
    bool nvlink = true;   // else a domain is a node joined by PCIe
    int domain_ranks = 1; // GPUs of a domain
    bool across_domains = false;
    bool through_host = false;    // devices of a node may not copy to each other: launch variables
    double network_share = 0;     // of its transfers' time: NICs move data, latency left out
    double line_rate_share = 0;   // of the NICs meanwhile, of what perturbed links leave of it
    double links_left = 1;        // of their rate, by perturbed links between domains
    bool pcie_holds_back = false; // its transfers, and not the NICs
    Transport transport = Transport::infiniband;
    double oversubscription = 1; // of the worst layer above the leaf switches
    double unevenness = 1;       // its members in the fullest domain per member in the emptiest

    bool offloads = false;   // states or activations live outside the device
    double host_updates = 0; // of the step: the host updates parameters
    double host_once = 0;    // of the step: what the host does once in it, whatever is launched
    std::optional<Loading> loading; // when the job loads data

    double mfu = 0;
    std::int64_t micro_batches = 1;
    int stages = 1;
};

Symptoms symptoms_of(const Outcome& outcome);
// The same where the outcome's collectives and traffic are known.
Symptoms symptoms_of(const Outcome& outcome, std::span<const CollectiveRow> collectives,
                     std::span<const TransferTraffic> traffic);

// Says first what a perturbation costs that alone makes up much of the step. `cost`: its share.
Bottleneck naming_the_perturbation(Bottleneck found, const std::string& perturbation, double cost);

// Recomputation that a setting makes needless: names it with the share of the step that it was
// found to save.
Bottleneck naming_the_answer(Bottleneck found, const std::string& setting, double gain);

// The rules, in the README of this folder.
Bottleneck find_bottleneck(const Symptoms& symptoms);

} // namespace trainyard
