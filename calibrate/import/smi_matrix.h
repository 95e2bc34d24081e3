#pragma once

// The matrix of `nvidia-smi topo -m`: how each pair of GPUs and NICs is joined.
//
//             GPU0    GPU1    NIC0    CPU Affinity    NUMA Affinity
//     GPU0     X      NV12    PXB     0-23            0
//
// X self; NV# that many NVLinks; PIX one PCIe bridge at most; PXB several; PHB a host bridge (CPU);
// NODE host bridges of one NUMA node; SYS the link between NUMA nodes. Column widths vary.

#include "calibrate/import/notes.h"

namespace trainyard {

struct SmiMatrix {
    int line = 0;
    std::vector<std::string> names;              // of columns and rows: GPU0, ..., NIC0, ...
    std::vector<std::vector<std::string>> links; // by row and column; rows may lack at the end
    std::vector<int> numa;                       // of each row; -1: not said
    std::vector<std::string> nic_names;          // by the legend; else the column's name

    bool operator==(const SmiMatrix&) const = default;
};

// Every such matrix of a text.
std::vector<SmiMatrix> read_smi_matrices(std::string_view text);

// "GPU0", "GPU17".
bool is_gpu_name(std::string_view name);

// NVLinks of "NV12"; 0 for others.
inline constexpr int most_nvlinks = 64; // that are read of one GPU: more than any has
int nvlinks_in(std::string_view word);

// How far apart: 1 (PIX) to 5 (SYS); 0 for self, -1 for what is no distance.
int distance_of(std::string_view word);

} // namespace trainyard
