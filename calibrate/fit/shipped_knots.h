#pragma once

// The shipped tables of measured collectives, made of published sweeps by a plan that says which
// sweeps feed which file.

#include "calibrate/fit/measured_tables.h"
#include "sim/base/fields.h"
#include "sim/topology/topology.h"

namespace trainyard {

// One node (or rack) of a device: all published sweeps of it.
struct KnotMachine {
    std::string knots; // file to make
    std::string description;
    std::string hardware; // how the words of its sweeps begin
    Bandwidth nvlink;
    std::vector<int> ranks;
    int rack = 0; // ranks of an NVLink domain that is larger than a node

    bool operator==(const KnotMachine&) const = default;
};

// One sweep across domains, taken as it is.
struct KnotAcross {
    std::string knots;
    std::string source; // the sweep
    std::string network;
    int nics_per_domain = 0;
    Bandwidth nic_rate;

    bool operator==(const KnotAcross&) const = default;
};

// Sweeps whose name holds `source` count from that size on.
struct KnotFromSize {
    std::string source;
    Bytes size;

    bool operator==(const KnotFromSize&) const = default;
};

// Which sweeps the constants of a fabric class are fitted to.
struct FabricRule {
    std::string fabric;                // its file
    std::vector<std::string> hardware; // how the words of its sweeps begin
    Bandwidth line_rate;
    bool in_switch = false; // NVSwitches that reduce
    int most_ranks = 0;     // 0: any

    bool operator==(const FabricRule&) const = default;
};

// A run across domains that a network class is fitted to.
struct NetworkRun {
    std::string source; // the sweep
    std::string device; // its model
    int rack = 0;       // ranks of an NVLink domain that is larger than a node
    int nics = 0;       // of a node
    Bandwidth nic_rate;
    Transport transport = Transport::infiniband;
    bool reduces = false; // in the network's switches
    bool ring = false;    // forced
    Bytes from;           // smaller sizes do not count

    bool operator==(const NetworkRun&) const = default;
};

// What the constants of a network class are fitted to, and what was thought of them before.
struct NetworkRule {
    std::string network; // its file
    Seconds latency;
    double efficiency = 0;
    Bandwidth max_per_communicator; // 0: not fitted
    std::vector<NetworkRun> runs;

    bool operator==(const NetworkRule&) const = default;
};

struct KnotPlan {
    std::vector<KnotMachine> machines;
    std::vector<FabricRule> fabrics;
    std::vector<KnotFromSize> from_size;
    std::vector<KnotAcross> across;
    std::vector<NetworkRule> networks;

    bool operator==(const KnotPlan&) const = default;
};

template <>
const FieldTable<KnotMachine>& fields_of<KnotMachine>();
template <>
const FieldTable<KnotAcross>& fields_of<KnotAcross>();
template <>
const FieldTable<KnotFromSize>& fields_of<KnotFromSize>();
template <>
const FieldTable<FabricRule>& fields_of<FabricRule>();
template <>
const FieldTable<NetworkRun>& fields_of<NetworkRun>();
template <>
const FieldTable<NetworkRule>& fields_of<NetworkRule>();
template <>
const FieldTable<KnotPlan>& fields_of<KnotPlan>();

Checked<KnotPlan> read_knot_plan(const std::string& path);

// The content of each file of the plan, by name. Medians over sweeps of all data types (reductions:
// floating-point ones, since switches reduce no others), NCCL versions and publishers, from 512 B
// on; grade `published`; times to five digits. A sweep of the plan that is not there is a problem.
Checked<std::map<std::string, Json>> shipped_knots(const KnotPlan& plan,
                                                   std::span<const Sweep> sweeps);

} // namespace trainyard
