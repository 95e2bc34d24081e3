#pragma once

// What `trainyard fit` is given: logs, a node's topology, or a profile that it wrote.

#include "calibrate/fit/fit_profile.h"
#include "calibrate/import/node_map.h"
#include "calibrate/import/read_sweeps.h"
#include "sim/base/progress.h"

namespace trainyard {

struct FitInput {
    std::vector<Sweep> sweeps;
    ImportNotes notes;
    std::string topology_device; // as a topology file names it; empty: it does not
    int nics_per_node = 0;       // the same
    Bandwidth nic_rate;          // the same; 0: not stated
    std::optional<NodeMap> node; // of a topology file
};

// Logs give their sweeps, profiles those that they were made of, a topology (NCCL's XML,
// `nvidia-smi topo -m`) the device and the NICs. Throws WorldError when the file cannot be read.
Checked<FitInput> read_fit_file(const std::string& path);

// What `more` has that `to` has not: copies of a log are no further launches, which would make it
// look reproducible. They are counted once, with a flag.
void append(FitInput& to, FitInput more);

// All of them; every problem of every file. Throws WorldError when a file cannot be read, and
// Cancelled.
Checked<FitInput> read_fit_input(const std::vector<std::string>& files,
                                 const WorkControl& work = {});

// What fits find doubtful in the sweeps beyond what the import said.
std::vector<std::string> further_flags(const FitInput& input);

// With what the files say of the machine where the request says nothing, and the name of the
// profile's file where it has none.
FitRequest completed(FitRequest request, const FitInput& input, const std::string& output);

} // namespace trainyard
