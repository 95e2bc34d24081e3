#pragma once

// From sweeps to the tables of a profile: one for each configuration and use of buffers.

#include "calibrate/fit/configuration.h"
#include "sim/cost/knots.h"

namespace trainyard {

// What sweeps do not say of their machine.
struct MeasuredOn {
    int rack_domain = 0;     // ranks of an NVLink domain that is larger than a node; 0: the node
    Bandwidth nvlink;        // per device and direction; 0: not known
    std::string network;     // class between domains
    int nics_per_domain = 0; // 0: not known
    Bandwidth nic_rate;      // 0: not known
    Grade grade = Grade::measured;
};

// Ranks per NVLink domain and domains of a sweep. Nothing when its ranks do not divide.
struct DomainSplit {
    int ranks_per_domain = 1;
    int domains = 1;
};
std::optional<DomainSplit> split_of(int ranks, int nodes, int rack_domain);

// One table for the launches of one configuration: the fitted curve of their medians, with the
// interval of the launches where there are several and of run-to-run noise where there is one; the
// compact form; errors; every sample. Nothing when fewer than two sizes are usable.
std::optional<KnotTable> table_of(const Launches& launches, Buffers buffers, const MeasuredOn& on);

// All of them. Those that a prediction would take come first: floating-point types (reduced in
// the switch where there is one), newer releases of NCCL, more launches.
std::vector<KnotTable> tables_of(std::span<const Sweep> sweeps, const MeasuredOn& on);

// The launches behind a table, from its raw samples: what `table_of` was given, as sweeps.
std::vector<Sweep> sweeps_of(const KnotTable& table);

} // namespace trainyard
