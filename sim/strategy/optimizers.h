#pragma once

// Optimizers: what they keep per parameter, what an update moves, and the work it takes.
//
//     adam       two moments (Kingma 2015)                      8 bytes/parameter
//     sgd        momentum                                       4
//     adafactor  sums over rows and columns of the second       4 (rows + columns) per matrix,
//                moment, no first (Shazeer 2018)                4 of vectors
//     muon       momentum, orthogonalised by five               4 of the layers' matrices,
//                Newton-Schulz iterations (Jordan 2024);        8 of the rest
//                Adam for embedding, head and vectors
//
// and an fp32 master copy of 4 bytes where parameters have 16 bit.

#include "sim/strategy/job.h"
#include "sim/workload/parameters.h"

namespace trainyard {

// Of one layer on one device, before ZeRO shards them.
struct OptimizerShare {
    LayerParameters state; // bytes
    // Parameters whose update moves as many bytes as Adam's does.
    LayerParameters adam_equivalent;
};
OptimizerShare optimizer_share(const Job& job, const LayerKind& kind,
                               const LayerParameters& trained);

// The Newton-Schulz iterations of a device's matrices: X is m x n with m <= n; each iteration is
// A = X X^T, B = b A + c A^2, X = a X + B X, so 4 m^2 n + 2 m^3 operations, in 16 bit. With ZeRO-1
// whole matrices are dealt out to the ranks that hold the same ones (Megatron-Core's layer-wise
// optimizer); TP ranks orthogonalise the part they hold. Matrices of one shape run as one batch.
WorkList newton_schulz(const Job& job, const std::vector<LayerKind>& layers);

// Optimizers that this way of sharding cannot run.
Problems optimizer_misfits(const Job& job);

} // namespace trainyard
