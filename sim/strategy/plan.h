#pragma once

// From a job to what the engine runs: a program with the costs it asks for, then the numbers.

#include "sim/cost/cost_model.h"
#include "sim/program/binding.h"
#include "sim/strategy/conditions.h"
#include "sim/strategy/job.h"
#include "sim/strategy/rank_layout.h"

#include <limits>

namespace trainyard {

// What an op of a data loader does; its rates say how long (data/loader_rates.h).
enum class LoaderPart : std::uint8_t {
    none,
    read,          // from storage
    make,          // workers decode and collate
    read_and_make, // the training process itself, one after the other
    wait,          // the host, for a batch
    copy           // to the device
};

// The kernels of a compute op; `CostId` of the op is its index.
struct ComputeRequest {
    WorkList kernels = {};             // kernels only
    Bytes host_copy = {};              // copy ops instead
    CopyRoute route = CopyRoute::host; // of the copy
    bool both_ways = false;            // ... beside copies the other way
    Bytes host_bytes = {};             // host ops instead: through the host's memory
    Seconds host_time = {};            // host ops instead
    Phase phase = Phase::other;
    LoaderPart loader = LoaderPart::none; // of one micro-batch

    bool operator==(const ComputeRequest&) const = default;
};

// What a transfer takes from the compute beside it.
enum class Interference : std::uint8_t {
    full,   // the SMs its kernel holds, and bandwidth while data moves
    kernel, // the SMs only: it runs beside GEMMs, which leave bandwidth over
    none    // the hidden part of a fused collective: what it costs is in the exposed share
};

// A transfer op's volume; `CostId` of the op or exchange part is its index.
struct TransferRequest {
    CollectiveKind kind = CollectiveKind::all_reduce;
    Bytes bytes = {}; // of the whole transfer
    Backend backend = Backend::nccl;
    // This op's part of the transfer: it takes `share` of the whole one's time and moves `share` of
    // its bytes. A TP collective fused with its GEMM is two ops: the share left exposed, the rest
    // beside the GEMM.
    double share = 1.0;
    Interference interference = Interference::full;

    bool operator==(const TransferRequest&) const = default;
};

struct Plan {
    Program program;
    std::vector<ComputeRequest> compute;
    std::vector<TransferRequest> transfers;

    bool operator==(const Plan&) const = default;
};

// The program of one step of the job: role i is pipeline stage i. Requires a resolved job.
Plan make_plan(const Job& job);

// What the engine's links know of a group's traffic.
enum class LinkDetail : std::uint8_t {
    none,
    sums, // of the whole group (fidelity bundle)
    hops, // of every member's hop in rings besides (fidelity flow)
    steps // of every step of any collective besides (fidelity chunk)
};

enum class Folding : std::uint8_t {
    none,    // one lane per rank
    replicas // one lane per class of ranks that evolve identically: exact (bind/classes.h); not where
             // all collectives go step by step
};

struct BindOptions {
    Folding folding = Folding::none;
    LinkDetail links = LinkDetail::none;
    // Of `neighbourhood`, where links are not shared in detail.
    double pair_ratio = std::numeric_limits<double>::infinity();
    Conditions conditions;
};

// The numbers of the plan on this cluster: rank i on device i. Requires devices >= job.world().
Binding bind(const Plan& plan, const Job& job, const Topology& topology, const CostModel& cost,
             const BindOptions& options);

} // namespace trainyard
