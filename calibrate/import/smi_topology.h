#pragma once

// From the matrix of nvidia-smi to a node.

#include "calibrate/import/node_map.h"
#include "calibrate/import/smi_matrix.h"

namespace trainyard {

// A node that joins its parts as the matrix says. `model`: key of the device constants; empty:
// assumed from the NVLinks, and said. Nothing when the matrix has no GPU, or contradicts itself
// (said in the notes).
std::optional<NodeMap> node_of_matrix(const SmiMatrix& matrix, std::string model,
                                      ImportNotes& notes);

} // namespace trainyard
