#pragma once

// A block cut into several, so that another block's ops can come between.

#include "sim/program/program.h"

#include <functional>

namespace trainyard {

// Cuts after each op that `ends_piece` says, in order; together the pieces are the block. All keep
// its local events. None for a block without ops.
std::vector<Block> cut_into_pieces(const Block& block,
                                   const std::function<bool(const Op&)>& ends_piece);

} // namespace trainyard
