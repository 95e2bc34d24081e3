#pragma once

// A node's topology from a file of any kind that holds one.

#include "calibrate/import/node_map.h"
#include "sim/topology/explicit_description.h"

namespace trainyard {

struct TopologyHints {
    std::string model; // key of the device constants
    int which = 1;     // of several matrices in one text
};

struct ImportedTopology {
    ExplicitDescription description;
    NodeMap map; // what it was described from
    Json json;   // the topology file
    ImportNotes notes;
    bool guessed_model = false; // of the GPUs: the file names none
};

// NCCL topology XML, or text with the matrix of `nvidia-smi topo -m`.
Checked<ImportedTopology> read_node_topology(std::string_view text, const std::string& file,
                                             const TopologyHints& hints = {});

} // namespace trainyard
