#pragma once

// What the software of a job does to a device: a framework class and version, never a machine.

#include "sim/cost/provenance.h"
#include "sim/workload/layer_work.h"

namespace trainyard {

// Constants and habits of a framework class ("megatron-core", "torch-fsdp", ...). Read from a
// profile's software layer.
struct SoftwareClass {
    std::string name;
    std::string description;

    Seconds host_per_kernel_forward; // eager launch: Python, dispatcher, driver
    Seconds host_per_kernel_backward;
    double cuda_graph_factor = 0.1; // host time with CUDA graphs / without

    KernelStyle kernels; // copied to Partition::kernels
    // Kernels that add weight gradients to an fp32 sum also allocate a gradient per shape of weight
    // that nobody fills (Transformer Engine).
    bool spare_weight_gradients = false;
    bool copies_into_buckets = false; // DDP holds gradients twice (PyTorch, unless told otherwise)
    bool pads_vocabulary = true;      // to a multiple of 128 x tp
    bool fp32_gradients = true;       // accumulated and reduced in fp32
    bool gathers_narrow_parameters = false; // in fp8 and mxfp8, by default
    bool sequence_parallel = true; // with tensor parallelism, unless the strategy says otherwise
    bool overlaps_dp = true;       // defaults of the overlap options
    bool overlaps_tp = false;
    bool overlaps_pp = true;
    Recompute recompute = Recompute::none; // by default

    // Shares of communication left exposed when the recipe overlaps it.
    double tp_exposed_share = 0.5; // decomposed with its GEMM; above 1: worse than in sequence
    double regather_exposed_share =
        1; // of the all-gather that sequence parallelism repeats in backward, beside a GEMM
    double ep_exposed_share = 1;  // dispatch and combine
    double cp_exposed_share = 1;  // ring exchanges of keys and values
    double p2p_exposed_share = 1; // sends between stages
    double overlap_slowdown = 0;  // phi: compute lost per share of the line rate in use

    bool blocking_p2p = false; // the host waits for each send and receive
    Seconds blocking_p2p_time; // host time each takes besides
    bool fsdp_copies = false;  // FSDP copies parameters out of and gradients into flat buffers

    double elementwise_factor = 1;     // memory traffic of elementwise kernels / that listed
    double moe_elementwise_factor = 1; // the same of MoE kernels
    double normalisation_factor = 1;   // the same of convolutions' batch norm and activation
    double expert_gemm_16 = 1;         // efficiency of grouped GEMMs / dense ones, 16 bit
    double expert_gemm_8 = 1;          // the same, fp8
    double attention_across_cp = 1; // efficiency of attention over several CP ranks' keys / one's
    double recompute_factor = 1;    // time of a recomputed forward / of a forward

    double optimizer_bytes_per_parameter =
        44; // through device memory, per parameter of the shard updated
    int optimizer_kernels = 20;
    Seconds optimizer_time; // besides: gradient norm, scaling, synchronisation
    Seconds
        step_overhead; // host time per step outside the model: data iterator, logging, scheduler

    ProvenanceMap provenance;

    bool operator==(const SoftwareClass&) const = default;
};

inline constexpr std::string_view software_format = "trainyard.software/1";

template <>
const FieldTable<SoftwareClass>& fields_of<SoftwareClass>();

// What is missing (errors), and what is implausible (warnings).
void check(const Reader& reader, const SoftwareClass& software);

} // namespace trainyard
