#pragma once

// Kernels whose times a profile needs of one device.

#include "calibrate/measure/backend/work.h"

namespace trainyard {

struct KernelRange {
    bool on_cpu = false; // smaller shapes: a core is a thousand times slower
    bool quick = false;
};

// A grid of shapes: rows as tokens of a micro-batch (small to large), columns and inner sizes as
// hidden sizes of models and their thirds and multiples.
std::vector<LocalWork> gemm_shapes(const KernelRange& range);

// Reads, writes and copies, sizes from within the last cache to far beyond; sums on CPUs, copies
// from and to the host's memory elsewhere.
std::vector<LocalWork> memory_sizes(const KernelRange& range);

// Launches in every way.
std::vector<LocalWork> launch_kinds();

// Causal, forward and backward: heads of 64 and 128, short and long sequences.
std::vector<LocalWork> attention_shapes(const KernelRange& range);

// What is timed beside collectives: a large GEMM and a copy; on CPUs a backward's two products
// (into activations, into weights) and a sum.
std::vector<LocalWork> overlap_kernels(const KernelRange& range);

// Beside which they are timed: all-reduce and all-gather; on CPUs all-reduces of small to large
// buckets, where a core moves the bytes and what it takes from compute changes with their size.
std::vector<CollectiveWork> overlap_collectives(const KernelRange& range);

} // namespace trainyard
