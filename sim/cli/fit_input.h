#pragma once

// What `trainyard fit` is given: logs, a node's topology, or a profile that it wrote.

#include "calibrate/import/read_sweeps.h"

namespace trainyard {

struct FitInput {
    std::vector<Sweep> sweeps;
    ImportNotes notes;
    std::string topology_device; // as a topology file names it; empty: it does not
    int nics_per_node = 0;       // the same
    Bandwidth nic_rate;          // the same; 0: not stated
};

// Logs give their sweeps, profiles those that they were made of, a topology (NCCL's XML,
// `nvidia-smi topo -m`) the device and the NICs. Every problem of every file.
// Throws WorldError when a file cannot be read, Cancelled after Ctrl-C.
Checked<FitInput> read_fit_input(const std::vector<std::string>& files);

} // namespace trainyard
