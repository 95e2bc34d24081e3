#include "sim/cost/device.h"

#include "sim/base/fields.h"
#include "sim/base/units.h"
#include "sim/cost/field_kinds.h"

#include <fmt/core.h>

namespace trainyard {

double AttentionEfficiency::at(AttentionKernel kernel) const
{
    switch (kernel) {
    case AttentionKernel::sdpa:
        return sdpa;
    case AttentionKernel::sdpa_cudnn:
        return sdpa_cudnn;
    case AttentionKernel::flash1:
        return flash1;
    case AttentionKernel::triton:
        return triton;
    case AttentionKernel::cudnn:
        return cudnn;
    case AttentionKernel::flash2:
    case AttentionKernel::unfused:
        break;
    }
    return flash2;
}

double UnderLoad::gemm_share(Precision precision) const
{
    return gemm.at(precision) > 0 ? gemm.at(precision) : 1;
}

double UnderLoad::attention_share() const
{
    return attention > 0 ? attention : 1;
}

FlopRate usual_peak(const Device& device)
{
    const FlopRate half = std::max(device.peak.bf16, device.peak.fp16);
    return half.value() > 0 ? half : device.peak.fp32;
}

namespace {

template <class T>
FieldTable<PerPrecision<T>> per_precision_table(const char* name, FieldInfo info)
{
    using P = PerPrecision<T>;
    return FieldTable<P>(name, "One value per number format.")
        .field("fp32", &P::fp32, info)
        .field("tf32", &P::tf32, info)
        .field("fp16", &P::fp16, info)
        .field("bf16", &P::bf16, info)
        .field("fp8", &P::fp8, info)
        .field("mxfp8", &P::mxfp8, info)
        .field("nvfp4", &P::nvfp4, info);
}

} // namespace

template <>
const FieldTable<PerPrecision<FlopRate>>& fields_of<PerPrecision<FlopRate>>()
{
    static const auto table = per_precision_table<FlopRate>("peak", not_negative("dense peak"));
    return table;
}

template <>
const FieldTable<PerPrecision<double>>& fields_of<PerPrecision<double>>()
{
    static const auto table = per_precision_table<double>(
        "efficiency", {.help = "share of a rate", .min = 0.0, .max = 2.0});
    return table;
}

template <>
const FieldTable<PerPrecision<GemmSurface>>& fields_of<PerPrecision<GemmSurface>>()
{
    static const auto table = per_precision_table<GemmSurface>(
        "gemm_surface", {.help = "measured times over m, n and k"});
    return table;
}

template <>
const FieldTable<AttentionEfficiency>& fields_of<AttentionEfficiency>()
{
    using A = AttentionEfficiency;
    static const auto table =
        FieldTable<A>("attention", "Forward share of the 16-bit peak by kernel.")
            .field("sdpa", &A::sdpa, share("PyTorch SDPA before 2.5"))
            .field("sdpa_cudnn", &A::sdpa_cudnn, share("PyTorch SDPA since 2.5"))
            .field("flash1", &A::flash1, share("FlashAttention 1"))
            .field("flash2", &A::flash2, share("FlashAttention 2"))
            .field("triton", &A::triton, share("Triton kernels of 2022-23"))
            .field("cudnn", &A::cudnn, share("cuDNN, Transformer Engine"));
    return table;
}

template <>
const FieldTable<UnderLoad>& fields_of<UnderLoad>()
{
    using U = UnderLoad;
    static const auto table =
        FieldTable<U>("under_load", "Rates in a training step / in short runs of one kernel.")
            .field("clock", &U::clock,
                   {.help = "clock under training load / that of kernels and efficiencies",
                    .min = 0.1,
                    .max = 1.5})
            .field("gemm", &U::gemm, {.help = "of measured GEMMs by number format; 0: all of it"})
            .field("attention", &U::attention,
                   {.help = "of measured fused attention; 0: all of it", .min = 0.0, .max = 2.0});
    return table;
}

template <>
const FieldTable<NcclTuning>& fields_of<NcclTuning>()
{
    using T = NcclTuning;
    static const auto table =
        FieldTable<T>("nccl", "What NCCL's tuning takes for the generation.")
            .field("link_rate", &T::link_rate, not_negative("one NVLink as NCCL counts it"))
            .field("low_latency_cap", &T::low_latency_cap, not_negative("of the LL protocol"))
            .field("in_switch", &T::in_switch,
                   share("efficiency of reduction in the NVSwitch; 0: none"));
    return table;
}

template <>
const FieldTable<NodeWiring>& fields_of<NodeWiring>()
{
    using W = NodeWiring;
    static const auto table =
        FieldTable<W>("wiring", "How NVLinks meet in nodes of some sizes.")
            .field("gpus", &W::gpus, {.help = "up to so many", .min = 1, .required = true})
            .field("wiring", &W::wiring, {.help = "as of a node", .required = true});
    return table;
}

template <>
const FieldTable<UsualNode>& fields_of<UsualNode>()
{
    using N = UsualNode;
    static const auto table =
        FieldTable<N>("usual_node", "The node that the device usually stands in.")
            .field("preset", &N::preset, {.help = "node of the topology presets"})
            .field("gpus", &N::gpus, {.help = "devices per node", .min = 1, .max = 1024})
            .field("nvlink_domain", &N::nvlink_domain,
                   {.help = "devices that NVLink joins; 0: those of a node", .min = 0})
            .field("wirings", &N::wirings,
                   {.help = "wiring of NVLink by number of devices, where it is not the preset's"})
            .field("nic_rate", &N::nic_rate, not_negative("line rate of one NIC"))
            .field("nic_rate_per_gpu", &N::nic_rate_per_gpu,
                   not_negative("line rate of the NICs per device; 0: as nic_rate"));
    return table;
}

namespace {

// Names and what else it is known by.
FieldTable<Device> with_identity(FieldTable<Device> table)
{
    using D = Device;
    return std::move(table)
        .field("name", &D::name, {.help = "as topologies name it"})
        .field("aliases", &D::aliases, {.help = "other names it is known by"})
        .field("fabric", &D::fabric, {.help = "fabric class it comes with"})
        .field("knots", &D::knots, {.help = "measured collectives of its nodes"})
        .field("kernels", &D::kernels, {.help = "measured kernels of its chip"})
        .field("compute_capability", &D::compute_capability,
               {.help = "of CUDA, 90 for 9.0; 0: no NVIDIA GPU", .min = 0, .max = 999})
        .field("typical", &D::typical,
               {.help = "the device that is meant where only its generation is told"})
        .field("pci_ids", &D::pci_ids, {.help = "device numbers, such as 0x2330"})
        .field("board_watts", &D::board_watts,
               not_negative("thermal design power, in W; 0: unknown"));
}

// How fast matrix products run.
FieldTable<Device> with_products(FieldTable<Device> table)
{
    using D = Device;
    return std::move(table)
        .field("sms", &D::sms, {.help = "streaming multiprocessors", .min = 1, .max = 1024})
        .field("peak", &D::peak, {.help = "dense peak by number format"})
        .field("gemm_efficiency", &D::gemm_efficiency,
               {.help = "share of the peak that large GEMMs reach, hot, random data; where kernels "
                        "are measured, convolutions only"})
        .field("gemm_surface", &D::gemm_surface,
               {.help = "measured GEMM times by number format, in place of peak and efficiency"})
        .field("under_load", &D::under_load,
               {.help = "rates in a training step / those of short runs"})
        .field("gemm_k_half", &D::gemm_k_half,
               not_negative("inner size at which a GEMM loses half, where no kernel is measured"))
        .field("head_gemm", &D::head_gemm,
               {.help = "efficiency of the vocabulary projection / other GEMMs", .min = 0.01})
        .field("square_gemm", &D::square_gemm,
               {.help = "efficiency of unfused attention's products / other GEMMs", .min = 0.01})
        .field("convolution", &D::convolution,
               {.help = "efficiency of convolutions / GEMMs", .min = 0.01})
        .field("launch_gap", &D::launch_gap,
               not_negative("device idle per GEMM; half per other kernel"));
}

// What device memory bounds, and fused attention.
FieldTable<Device> with_memory_and_attention(FieldTable<Device> table)
{
    using D = Device;
    return std::move(table)
        .field("hbm_bandwidth", &D::hbm_bandwidth, not_negative("data sheet"))
        .field("hbm_efficiency", &D::hbm_efficiency,
               share("share of it that elementwise kernels reach"))
        .field("hbm_gemm", &D::hbm_gemm, share("share of it that memory-bound GEMMs reach"))
        .field(
            "attention", &D::attention,
            {.help = "fused attention by kernel; where kernels are measured, their ratios count"})
        .field("attention_backward", &D::attention_backward,
               {.help = "attention efficiency backward / forward", .min = 0.01, .max = 2})
        .field("attention_half_length", &D::attention_half_length,
               not_negative("sequence length at which attention loses half"))
        .field("attention_head_96", &D::attention_head_96,
               share("attention factor for heads of 65 to 127"))
        .field("attention_head_64", &D::attention_head_64,
               share("attention factor for heads up to 64"));
}

// Links, the host, and how much fits.
FieldTable<Device> with_surroundings(FieldTable<Device> table)
{
    using D = Device;
    return std::move(table)
        .field("nvlink", &D::nvlink, not_negative("line rate one way, all links"))
        .field("nvlinks", &D::nvlinks, {.help = "how many, for bridges too", .min = 0, .max = 64})
        .field("nvlink_rate", &D::nvlink_rate, not_negative("line rate of one, one way"))
        .field("nccl", &D::nccl, {.help = "NCCL's tuning for the generation"})
        .field("pcie", &D::pcie, not_negative("line rate of the card, one way; 0: unknown"))
        .field("c2c", &D::c2c, not_negative("line rate of NVLink-C2C to its CPU, one way"))
        .field("usual_node", &D::usual_node, {.help = "the node it usually stands in"})
        .field("host_link", &D::host_link,
               {.help = "what joins it to its host's memory; self: it is the host"})
        .field("host_copy", &D::host_copy,
               not_negative("achieved between device and host, one way"))
        .field("host_copy_both", &D::host_copy_both,
               not_negative("each way while both are busy; 0: as host_copy"))
        .field("host_copy_latency", &D::host_copy_latency, not_negative("of a copy"))
        .field("host_memory", &D::host_memory,
               not_negative("bandwidth that the cores of a usual host reach, per device of it; 0: "
                            "unknown"))
        .field("peer_copy", &D::peer_copy,
               not_negative("between two devices of a node, one way; 0: only through the host"))
        .field("sm_loss", &D::sm_loss,
               share("compute lost per SM that a communication kernel holds"))
        .field("memory", &D::memory, {.help = "as the driver reports it"})
        .field("context_memory", &D::context_memory, {.help = "CUDA context and libraries"})
        .field("communicator_memory", &D::communicator_memory,
               {.help = "NCCL buffers of one communicator"})
        .field("library_memory", &D::library_memory,
               {.help = "workspace of the library of matrix products"});
}

} // namespace

template <>
std::vector<EnumName<HostLink>> enum_names<HostLink>()
{
    return {{HostLink::pcie, "pcie"}, {HostLink::c2c, "c2c"}, {HostLink::self, "self"}};
}

template <>
const FieldTable<Device>& fields_of<Device>()
{
    static const auto table = with_surroundings(with_memory_and_attention(with_products(
        with_identity(FieldTable<Device>("device", "Constants of one device model.")))));
    return table;
}

namespace {

void warn_above(const Reader& reader, const char* field, double value, double limit,
                const std::string& hint)
{
    if (value > limit)
        reader.warn(fmt::format("\"{}\" is implausibly large", field), hint);
}

void warn_peaks(const Reader& reader, const Device& device)
{
    const double half = std::max(device.peak.fp16.value(), device.peak.bf16.value());
    warn_above(reader, "peak", half, 20e15,
               "the largest devices reach 2.5 PFLOP/s dense at 16 bit");
    if (half > 0 && half < 1e12 && !device.is_cpu())
        reader.warn("\"peak\" is implausibly small",
                    fmt::format("{} at 16 bit? TFLOP/s is usual", to_display(FlopRate(half))));
    if (device.peak.fp8.value() > 0 && device.peak.fp8.value() < half)
        reader.warn("fp8 is slower than 16 bit", "dense peaks double from 16 to 8 bit");
    if (half > 0 && device.peak.fp8.value() > 3 * half)
        reader.warn("fp8 is more than three times as fast as 16 bit",
                    "dense peaks double from 16 to 8 bit; is one figure with sparsity?");
}

// Values that are a unit or a power of ten away from any device.
void warn_implausible(const Reader& reader, const Device& device)
{
    warn_peaks(reader, device);
    warn_above(reader, "hbm_bandwidth", device.hbm_bandwidth.value(), 30e12,
               "the fastest memories reach 8 TB/s");
    warn_above(reader, "nvlink", device.nvlink.value(), 4e12,
               "NVLink 5 carries 900 GB/s in each direction");
    warn_above(reader, "launch_gap", device.launch_gap.value(), 1e-3, "2 to 5 us are usual");
    warn_above(reader, "memory", static_cast<double>(device.memory.value()), 2e12,
               "80 to 288 GB are usual");
}

void need_constants(const Reader& reader, const Device& device)
{
    const auto need = [&](bool given, const char* name) {
        if (!given)
            reader.error(fmt::format("\"{}\" is missing from device", name));
    };
    need(!device.name.empty(), "name");
    need(device.sms > 0, "sms");
    need(device.is_cpu() ? device.peak.fp32.value() > 0
                         : device.peak.fp16.value() > 0 || device.peak.bf16.value() > 0,
         "peak");
    need(device.hbm_bandwidth.value() > 0, "hbm_bandwidth");
    need(device.hbm_efficiency > 0, "hbm_efficiency");
    need(device.memory.value() > 0, "memory");
}

// Every number format with a peak, and every kernel of attention.
void need_efficiencies(const Reader& reader, const Device& device)
{
    for (const Precision p : {Precision::fp32, Precision::tf32, Precision::fp16, Precision::bf16,
                              Precision::fp8, Precision::mxfp8, Precision::nvfp4})
    {
        const double efficiency = device.gemm_efficiency.at(p);
        if (device.peak.at(p).value() > 0 && !(efficiency > 0))
            reader.error(
                fmt::format("\"gemm_efficiency\" of {} is missing from device", to_name(p)),
                "every number format with a peak needs the share of it that is reached");
        if (efficiency > 1)
            reader.member("gemm_efficiency")
                .member(std::string(to_name(p)))
                .error(fmt::format("{:g} is more than the peak", efficiency), "at most 1");
    }
    if (device.is_cpu())
        return; // no fused kernels
    for (const AttentionKernel kernel :
         {AttentionKernel::sdpa, AttentionKernel::sdpa_cudnn, AttentionKernel::flash1,
          AttentionKernel::flash2, AttentionKernel::triton, AttentionKernel::cudnn})
        if (!(device.attention.at(kernel) > 0))
            reader.error(
                fmt::format("\"attention\" of {} is missing from device", to_name(kernel)));
}

} // namespace

void check(const Reader& reader, const Device& device)
{
    need_constants(reader, device);
    need_efficiencies(reader, device);
    warn_implausible(reader, device);
}

} // namespace trainyard
