#pragma once

// A recorded step beside the simulated step of the same job: what each kind of time, of kernels and
// of transfers takes in the one and in the other.

#include "sim/study/kernel_uses.h"
#include "sim/study/traced/layer_sides.h"
#include "sim/traces/run_summary.h"

namespace trainyard {

// Kernels as far as both sides tell them apart.
enum class ComparedWork : std::uint8_t {
    products, // GEMM and convolutions
    attention,
    memory_bound, // norms, activations, losses, embeddings, routing, copies: however they are fused
    updates       // of the optimizer
};
inline constexpr std::size_t compared_work_count = 4;

std::string_view title_of(ComparedWork work); // "memory-bound kernels"
std::string_view key_of(ComparedWork work);   // in files: "memory_bound"

// Of a simulated kernel.
ComparedWork compared_work(const KernelUses& uses);

// Of a rank and step, means over ranks and steps.
struct WorkPair {
    Seconds recorded;
    Seconds simulated;
    double recorded_ops = 0;
    double simulated_ops = 0; // kernels that the host launches
};

// Transfers of a kind, by what they are for: the kind of time that they cost where nothing hides
// them.
struct TransferPair {
    CollectiveKind collective = CollectiveKind::all_reduce;
    TimeKind purpose = TimeKind::exposed_dp;
    double recorded_count = 0;
    double simulated_count = 0;
    double recorded_bytes = 0; // of all of them; whole buffers, as nccl-tests counts
    double simulated_bytes = 0;
    Seconds recorded; // while data move, of all of them
    Seconds simulated;
};

struct SideBySide {
    Seconds recorded;  // step
    Seconds simulated; // step
    std::array<Seconds, time_kind_count> recorded_time{};
    std::array<Seconds, time_kind_count> simulated_time{};
    Seconds recorded_gaps;   // nothing runs though the next kernel is queued
    Seconds recorded_untold; // nothing runs, and whether it is was not recorded
    std::array<WorkPair, compared_work_count> work{};
    std::vector<TransferPair> transfers; // longest first
    double recorded_launches = 0;
    double simulated_launches = 0;
    std::vector<StageSides> stages; // where asked

    const WorkPair& of(ComparedWork one) const { return work[static_cast<std::size_t>(one)]; }
};

// Requires an outcome that ran, of a job to which `mismatch_of` has no objection.
SideBySide side_by_side(const RunSummary& recorded, const Outcome& simulated);

// Why the two are not of one job, or nothing: numbers of ranks or devices that differ.
std::optional<std::string> mismatch_of(const RunSummary& recorded, const Outcome& simulated);

} // namespace trainyard
