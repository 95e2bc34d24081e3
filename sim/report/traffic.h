#pragma once

// Which links a job's communication loads, and how much.

#include "sim/cost/nccl_settings.h"
#include "sim/strategy/bind/step_traffic.h"
#include "sim/study/outcome.h"

#include <span>

namespace trainyard {

// What the step's transfers move, in the patterns that their costs chose.
std::vector<TransferTraffic> traffic_of(const Outcome& outcome);

// Bytes that a member sends through links of its NVLink domain and out of it per byte of S, mean
// over the job's transfers of that kind.
TrafficSplit bytes_per_payload(std::span<const TransferTraffic> traffic, CollectiveKind collective,
                               GroupKind group);

// Links of one class, loaded by one step.
struct LinkClassRow {
    std::string name; // "NVLink", "NIC NDR400", ...
    std::size_t links = 0;
    Bandwidth capacity;     // of one, one direction: what it has left, in the mean
    double bytes = 0;       // sent per step, all links
    double utilization = 0; // mean over links and time
};

// What the launch variables leave of NCCL's paths.
NcclSettings nccl_settings(const Outcome& outcome);

// The same count in every fidelity: the traffic of the outcome over the links of the nodes that the
// job uses. Trunks of the fabric follow in those fidelities whose engine lays messages on them.
std::vector<LinkClassRow> link_rows(const Outcome& outcome);
// The same where the traffic is known.
std::vector<LinkClassRow> link_rows(const Outcome& outcome,
                                    std::span<const TransferTraffic> traffic);

// Of the way out of its domain, per GPU: NIC line rate. 0 when there is no network.
Bandwidth nic_rate_per_gpu(const Outcome& outcome);

} // namespace trainyard
