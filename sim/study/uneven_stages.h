#pragma once

// Pipeline stages of a model whose layers they do not share evenly.

#include <vector>

namespace trainyard {

// `layers` over `stages`, none of which holds two more than another: the last stage, which has the
// head, is never among those that hold one more, nor is the first while others can, unless its
// layers are lighter (`leading_dense_layers` > 0: without experts). Requires stages >= 2.
std::vector<int> uneven_stages(int layers, int stages, int leading_dense_layers);

} // namespace trainyard
