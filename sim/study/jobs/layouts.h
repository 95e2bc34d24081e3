#pragma once

// The ways to lay a transformer over the GPUs of a cluster: every TP, PP (stages need not be even),
// virtual stages, CP, EP, micro-batch and recompute that the sizes allow, with the megatron-core
// distributed optimizer; FSDP; DDP. Each comes with a rough time, which says where to look first.

#include "sim/cost/cost_model.h"
#include "sim/strategy/training.h"
#include "sim/topology/group_shape.h"
#include "sim/workload/model.h"

#include <vector>

namespace trainyard {

// What layouts depend on.
struct LayoutFacts {
    Model model;
    Device device;
    GroupShape machine; // of all GPUs
    int gpus = 1;
    int domain = 1; // GPUs that NVLink joins
    double parameters = 0;
    double expert_parameters = 0; // of them, those of experts that a token is routed to
    std::int64_t sequence_length = 0;
    std::int64_t global_batch = 0; // sequences (samples) per step

    const Transformer* transformer() const { return std::get_if<Transformer>(&model.architecture); }
};

struct Layout {
    Strategy strategy;
    std::string framework;
    Recompute recompute = Recompute::none;
    std::int64_t micro_batch = 1;
    Bytes states;       // of parameters, gradients and optimizer on a device, at the least
    Seconds rough_time; // of a step; compares layouts, predicts none
};

// Layouts that share sizes and differ in micro-batch, virtual stages and recompute, the quickest
// (by its rough time) first.
using LayoutFamily = std::vector<Layout>;

struct LayoutSpace {
    std::vector<LayoutFamily> families; // that of the quickest layout first
    std::int64_t layouts = 0;           // in them
    std::int64_t too_large = 0;         // left out: the states alone exceed a device
    Bytes least_states;                 // per device, of the leanest of those
    // Left out, all or those of small micro-batches: the batch is no whole number of micro-batches,
    // or of too many. The leanest of each family.
    std::vector<Layout> undivided;
};

// All of them, in a fixed order. A layer list (no transformer) has DDP alone.
LayoutSpace layout_space(const LayoutFacts& facts);

// In how many of zero, tp, pp, cp and ep two layouts differ.
int differences(const Strategy& a, const Strategy& b);

// One of them apart, by a factor of 3 at most.
bool neighbours(const Strategy& a, const Strategy& b);

} // namespace trainyard
