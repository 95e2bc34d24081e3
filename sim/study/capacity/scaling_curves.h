#pragma once

// How the best layout's pace grows with the cluster: with the same batch on all sizes (strong
// scaling), and with a batch in proportion (weak). At each size the layout is searched anew.

#include "sim/study/capacity/capacity_plan.h"

#include <vector>

namespace trainyard {

struct ScaledSize {
    SizedCluster sized; // with an outcome
    std::int64_t global_batch = 0;
    // Work per second against the smallest size of the curve.
    double speedup = 1;
    double efficiency = 1; // of it, over the ideal
    // The speedup if all but communication, exposed or slowing compute, took as few GPU seconds a
    // sequence as on the leanest size: what this size's communication leaves, never below
    // `speedup`.
    double communication = 1;
};

// Amdahl's law (1967): of the smallest size's step a share s does not get shorter, so that m times
// the GPUs are 1 / (s + (1 - s) / m) times as quick.
struct AmdahlLaw {
    double serial = 0; // s

    double speedup(double more_gpus) const { return 1 / (serial + (1 - serial) / more_gpus); }
};

struct ScalingCurve {
    std::vector<ScaledSize> sizes; // the smallest first; those on which nothing runs are left out
    std::optional<AmdahlLaw> law;  // of strong scaling over two sizes or more
    std::optional<std::size_t> pays_up_to; // of the sizes
    std::size_t leanest = 0; // of them, where all but communication takes the fewest GPU seconds
};

struct ClusterScaling {
    ClusterKind kind;
    ScalingCurve strong;
    ScalingCurve weak;
    bool interrupted = false; // sizes are missing
};

// Sizes are those of `sizes_within` of `request.scaling`. The batch of strong scaling is the
// best layout's of the largest size, and weak scaling's is that at this size. Requires `scaling`.
ClusterScaling cluster_scaling(const CapacityRequest& request, const ClusterKind& kind,
                               Session& session);

// The least squares of relative errors of step times. `more_gpus` and `speedups` are those of a
// curve, 1 first.
AmdahlLaw fitted_law(const std::vector<double>& more_gpus, const std::vector<double>& speedups);

// The knee of a curve: where speedup times efficiency is largest (Eager, Zahorjan and Lazowska
// 1989). Up to it 1 % more GPUs save more than 0.5 % of the time, past it less. Requires a size.
std::size_t knee(const std::vector<double>& more_gpus, const std::vector<double>& speedups);

} // namespace trainyard
