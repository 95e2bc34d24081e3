#pragma once

// The closed form of collectives, scaled to a machine: for group sizes and collectives that nobody
// measured there.

#include "calibrate/fit/two_scalars.h"
#include "sim/cost/collective_form.h"
#include "sim/cost/knots.h"
#include "sim/cost/profile.h"

namespace trainyard {

// The shape that a table's group has on that hardware.
GroupShape shape_of(const KnotTable& table, const Hardware& hardware);

struct ScaledForm {
    TwoScalars scalars;
    double error_before = 0; // mean absolute relative error of the form as it was
    double error_after = 0;
    int points = 0;
};

// One factor on all latencies, one on all efficiencies of `hardware.fabric`, fitted to the measured
// tables inside one domain (chosen by NCCL, out of place) and put into it; what a factor other than
// one is of is graded `measured`. No efficiency goes above 1. Nothing, and no change, with fewer
// than eight points.
std::optional<ScaledForm> scale_fabric(Hardware& hardware, std::span<const KnotTable> tables);

// The same of `hardware.network`'s latency and efficiency, from tables across domains.
std::optional<ScaledForm> scale_network(Hardware& hardware, std::span<const KnotTable> tables);

} // namespace trainyard
