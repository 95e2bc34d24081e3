#pragma once

// Sparse attention's indexer (DeepSeek-V3.2, section 2.1): few narrow heads score every key for
// each query; attention then sees the keys with the largest sums only. All TP ranks hold it whole
// and score alike.

#include "sim/workload/saved_tensors.h"
#include "sim/workload/work_builder.h"

namespace trainyard {

// Projections and scores. Scores run in 8 bit where the layer's products do, their sums over the
// heads are written in fp32 and read by the choice. Backward learns from the keys chosen.
void add_sparse_indexer(WorkBuilder& builder);

std::vector<SavedTensor> indexer_saved(const LayerShape& shape);

// Forward operations of a sequence's scores, `pairs` of query and key.
double indexer_flops(const SparseIndexer& indexer, double pairs);

} // namespace trainyard
