#pragma once

// The core of mixers that take a sequence in chunks: its products, the bytes its kernels move, and
// how these were timed.

#include "sim/workload/work_builder.h"

namespace trainyard {

// One device's share of a core: heads of values, each with a key head or, in groups, sharing one.
struct ChunkedCore {
    std::int64_t batch = 1;
    std::int64_t length = 0; // of a sequence, whole
    std::int64_t heads = 0;
    std::int64_t key_heads = 0;
    std::int64_t key_dim = 0;
    std::int64_t value_dim = 0;
    std::int64_t chunk = 0;
    std::int64_t width = 2; // bytes of a stored number
    Precision precision = Precision::bf16;
    int launches = 0; // kernels forward
    int launches_backward = 0;

    std::int64_t chunks() const { return batch * divided_up(length, chunk); }
    double tokens() const { return static_cast<double>(batch * length); }
};

struct CoreWork {
    WorkList forward;
    WorkList backward;
};

// Lightning attention. One product stands for its kernels: per head and chunk of C tokens, scores
// of queries and keys C^2 K, times values C^2 V, keys and values into the state C K V, queries of
// it C K V. Backward makes two gradients of each and computes the chunks again. States are written
// and read once per chunk in fp32.
CoreWork lightning_core(const ChunkedCore& core);

// Delta rules take besides the keys' own products C^2 K, their inverse (a third of C^3) times keys
// and values C^2 (K + V), and read the state once more C K V. Bytes are those of
// flash-linear-attention's kernels (`delta_rule_bytes`).
CoreWork delta_core(const ChunkedCore& core, SequenceKernel kernel);

// Mamba-2's state-space duality as mamba_ssm runs it (ssd_combined.py of version 2), kernel by
// kernel: steps, states of chunks, their passing, scores of each group, scan; the gate is in the
// scan. States of chunks and scores are fp32. Backward makes all but the scan again, undoes the
// gate, then takes the gradients of states, values, keys, queries, scores and decay.
CoreWork mamba2_core(const ChunkedCore& core);

// Device memory that a pass of a delta rule moves per token and head of values, each kernel reading
// its operands once: logarithms of decay summed, keys' products, their inverse, w and u, states,
// results; backward w, u and states again, the gradients of values, states, queries, keys and w, of
// the inverse, sums and decay. Kimi's decay is one fp32 number per element of a key where the gated
// rule's is one per head.
double delta_rule_bytes(const ChunkedCore& core, SequenceKernel kernel, bool backward);

} // namespace trainyard
