#pragma once

// Which links a job's communication loads, and how much.

#include "sim/cost/nccl_settings.h"
#include "sim/study/session.h"

namespace trainyard {

// Bytes that one member sends per byte of S, through links of its NVLink domain and out of it.
struct TrafficSplit {
    double inside = 0;
    double outside = 0;

    bool operator==(const TrafficSplit&) const = default;
};

// Mean over the members of a group of `ranks`, `ranks_per_domain` of them in each NVLink domain.
//
// Every algorithm moves bus_factor x S per member. Along a ring that visits domain after domain,
// one of each domain's k sends leaves it: 1/k of the bytes; an all-to-all sends the (n-k)/(n-1)
// part of its peers outside.
//
// Requires 1 <= ranks_per_domain <= ranks. Reduction in switches moves less (the limits of this
// count are the ring's).
TrafficSplit traffic_split(CollectiveKind kind, int ranks, int ranks_per_domain);

// The same averaged over the job's groups of that kind. A pipeline's messages stay inside where
// neighbouring stages share a domain.
TrafficSplit traffic_split(const Outcome& outcome, CollectiveKind collective, GroupKind group);

// Links of one class, loaded by one step.
struct LinkClassRow {
    std::string name; // "NVLink", "NIC NDR400", ...
    std::size_t links = 0;
    Bandwidth capacity;     // of one, one direction: what it has left, in the mean
    double bytes = 0;       // per step, all links
    double utilization = 0; // mean over links and time
};

// What the launch variables leave of NCCL's paths.
NcclSettings nccl_settings(const Outcome& outcome);

// From the engine's link totals where it kept them (fidelities that share them), else from the
// transfers.
std::vector<LinkClassRow> link_rows(const Outcome& outcome);

// Of the way out of its domain, per GPU: NIC line rate. 0 when there is no network.
Bandwidth nic_rate_per_gpu(const Outcome& outcome);

} // namespace trainyard
