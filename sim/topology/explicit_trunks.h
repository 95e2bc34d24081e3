#pragma once

// The trunks of an explicit graph: which links carry a block of switches up to the next layer.

#include "sim/topology/explicit_pieces.h"

namespace trainyard {

// By link. A block is what links among switches of its layer and below join (a leaf by itself, the
// leaves and spines of a pod); its trunks are all links from its top layer up, and all back down.
std::vector<std::optional<Trunk>> find_trunks(const ExplicitPieces& pieces);

} // namespace trainyard
