#pragma once

// What the software of a job does to a device: a framework class and version, never a machine.

#include "sim/workload/layer_work.h"

namespace trainyard {

// Constants and habits of a framework class ("megatron-core", "torch-fsdp", ...). Read from a
// profile's software layer.
struct SoftwareClass {
    std::string name;

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
    bool sequence_parallel = true;    // with tensor parallelism, unless the strategy says otherwise
    bool overlaps_dp = true;          // defaults of the overlap options
    bool overlaps_tp = false;
    bool overlaps_pp = true;
    double tp_exposed_share =
        0.5; // of TP communication left exposed when it is overlapped (decomposed) with its GEMM
    bool blocking_p2p = false; // the host waits for each send and receive
    double optimizer_bytes_per_parameter =
        44; // through device memory, per parameter of the shard updated
    int optimizer_kernels = 20;
    Seconds
        step_overhead; // host time per step outside the model: data iterator, logging, scheduler

    bool operator==(const SoftwareClass&) const = default;
};

template <>
const FieldTable<SoftwareClass>& fields_of<SoftwareClass>();

} // namespace trainyard
