#pragma once

// Constants of one device model: the part of the hardware layer that no cable changes.
//
// A device is a GPU, or what one rank of a job on CPUs computes with: then `host_link` is self,
// `sms` 1, `peak` that of its cores in fp32, `hbm_bandwidth` its part of the host's memory
// bandwidth, `memory` its part of the host's memory, and there are no fused attention kernels.

#include "sim/cost/gemm_surface.h"
#include "sim/cost/provenance.h"
#include "sim/topology/node_template.h"
#include "sim/workload/kernel_style.h"

namespace trainyard {

// One value per number format of a GEMM.
template <class T>
struct PerPrecision {
    T fp32{};
    T tf32{};
    T fp16{};
    T bf16{};
    T fp8{};   // one scale per tensor, or fp32 ones per block
    T mxfp8{}; // block scales applied by the tensor cores
    T nvfp4{};

    const T& at(Precision precision) const
    {
        switch (precision) {
        case Precision::fp32:
            return fp32;
        case Precision::tf32:
            return tf32;
        case Precision::fp16:
            return fp16;
        case Precision::bf16:
            return bf16;
        case Precision::fp8:
        case Precision::fp8_block:
            return fp8;
        case Precision::mxfp8:
            return mxfp8;
        case Precision::nvfp4:
            break;
        }
        return nvfp4;
    }
    bool operator==(const PerPrecision&) const = default;
};

// Forward rate of a fused attention kernel as a share of the dense 16-bit peak, counting only the
// operations it executes (causal: half), for long sequences and heads of 128.
struct AttentionEfficiency {
    double sdpa = 0;
    double sdpa_cudnn = 0;
    double flash1 = 0;
    double flash2 = 0;
    double triton = 0;
    double cudnn = 0;

    double at(AttentionKernel kernel) const; // unfused: that of flash2 (no such kernel is asked)
    bool operator==(const AttentionEfficiency&) const = default;
};

// What a training step reaches of rates that are of short runs of one kernel: clocks under power
// limits, other streams, layouts of backward kernels. The clock is that of everything that
// computes, the shares are of MeasuredKernels.
struct UnderLoad {
    double clock = 1;          // under training load / of the measured kernels and efficiencies
    PerPrecision<double> gemm; // 0: all of it
    double attention = 0;

    double gemm_share(Precision precision) const;
    double attention_share() const;
    bool operator==(const UnderLoad&) const = default;
};

// What joins a device to its host's memory. self: it is the host, a CPU.
enum class HostLink : std::uint8_t { pcie, c2c, self };

// What NCCL's tuning (src/graph/tuning.cc) takes for the device's generation; zeros: nothing.
struct NcclTuning {
    Bandwidth link_rate;       // one NVLink, one direction, as NCCL counts it
    Bandwidth low_latency_cap; // of the LL protocol
    double in_switch = 0;      // efficiency of reduction in the NVSwitch; 0: none

    bool operator==(const NcclTuning&) const = default;
};

// How the NVLinks of a node meet that has up to `gpus` of a device.
struct NodeWiring {
    int gpus = 0;
    NvlinkWiring wiring = NvlinkWiring::none;

    bool operator==(const NodeWiring&) const = default;
};

// The node that a device usually stands in.
struct UsualNode {
    std::string preset; // of topologies/presets; empty: none is known
    int gpus = 8;
    int nvlink_domain = 0;           // GPUs that NVLink joins; 0: those of a node
    std::vector<NodeWiring> wirings; // where they are not the preset's; the first that holds
    Bandwidth nic_rate;              // line rate of one NIC, one direction; 0: unknown
    Bandwidth nic_rate_per_gpu;      // ... of a node's NICs, shared out; 0: as nic_rate

    bool operator==(const UsualNode&) const = default;
};

struct Device {
    std::string name; // as topologies name it: "H100-SXM5-80GB"
    std::vector<std::string> aliases;
    std::string fabric;  // fabric class it comes with, e.g. "nvlink4"
    std::string knots;   // measured collectives of its nodes, e.g. "h100"; empty: none
    std::string kernels; // MeasuredKernels of its chip, e.g. "h100"; empty: none

    // What tells logs, dumps and records of it from those of other devices.
    int compute_capability = 0;       // of CUDA, e.g. 90 for 9.0; 0: no NVIDIA GPU
    bool typical = false;             // the one that is meant where only its generation is told
    std::vector<std::string> pci_ids; // device numbers, e.g. "0x2330"

    double board_watts = 0; // thermal design power; 0: unknown

    int sms = 0;
    PerPrecision<FlopRate> peak;            // dense; 0: the device has no such units
    PerPrecision<double> gemm_efficiency;   // of the peak, large shapes, hot, random data
    PerPrecision<GemmSurface> gemm_surface; // measured times, in place of the two where present
    UnderLoad under_load;
    double gemm_k_half = 0; // inner size at which a GEMM loses half: k / (k + k_half)
    double head_gemm = 1;   // GEMM efficiency of the vocabulary projection / others
    double square_gemm = 1; // ... of unfused attention's batched products
    double convolution = 1; // ... of convolutions
    Seconds launch_gap;     // device idle per GEMM; half per other kernel

    Bandwidth hbm_bandwidth;   // data sheet
    double hbm_efficiency = 0; // of elementwise kernels
    double hbm_gemm = 0.85;    // of a memory-bound GEMM

    AttentionEfficiency attention;
    double attention_backward = 1;    // efficiency backward / forward
    double attention_half_length = 0; // sequence at which half is lost: s / (s + half)
    double attention_head_96 = 1;     // factor for heads of 65 to 127
    double attention_head_64 = 1;     // factor for heads up to 64

    Bandwidth nvlink;      // line rate, one direction, all links; 0: none
    int nvlinks = 0;       // how many it has, for bridges between cards too
    Bandwidth nvlink_rate; // line rate of one, one direction
    NcclTuning nccl;
    Bandwidth pcie; // line rate of the card, one direction; 0: unknown
    Bandwidth c2c;  // line rate of NVLink-C2C to its CPU, one direction; 0: none
    UsualNode usual_node;
    HostLink host_link = HostLink::pcie;
    Bandwidth host_copy;      // achieved, one way
    Bandwidth host_copy_both; // ... each way while both are busy; 0: as host_copy
    Seconds host_copy_latency;
    Bandwidth host_memory; // what the cores of a usual host reach, per device of it; 0: unknown
    Bandwidth peer_copy;   // between two devices of a node, one way; 0: only through the host
    double sm_loss = 1;    // compute lost per SM that a communication kernel holds; below 1 where
                           // waves leave SMs idle anyway

    Bytes memory;                      // as the driver reports it
    Bytes context_memory;              // CUDA context and libraries
    Bytes communicator_memory;         // NCCL buffers of one communicator
    Bytes library_memory{32ULL << 20}; // workspace of the library of matrix products

    ProvenanceMap provenance;

    bool is_cpu() const { return host_link == HostLink::self; }
    bool operator==(const Device&) const = default;
};

// Dense peak at 16 bit; at fp32 where there are no such units.
FlopRate usual_peak(const Device& device);

inline constexpr std::string_view device_format = "trainyard.device/1";

template <>
std::vector<EnumName<HostLink>> enum_names<HostLink>();
template <>
const FieldTable<PerPrecision<FlopRate>>& fields_of<PerPrecision<FlopRate>>();
template <>
const FieldTable<PerPrecision<double>>& fields_of<PerPrecision<double>>();
template <>
const FieldTable<PerPrecision<GemmSurface>>& fields_of<PerPrecision<GemmSurface>>();
template <>
const FieldTable<AttentionEfficiency>& fields_of<AttentionEfficiency>();
template <>
const FieldTable<UnderLoad>& fields_of<UnderLoad>();
template <>
const FieldTable<NcclTuning>& fields_of<NcclTuning>();
template <>
const FieldTable<NodeWiring>& fields_of<NodeWiring>();
template <>
const FieldTable<UsualNode>& fields_of<UsualNode>();
template <>
const FieldTable<Device>& fields_of<Device>();

// What is missing or contradicts itself (errors), and what is implausible (warnings).
void check(const Reader& reader, const Device& device);

} // namespace trainyard
