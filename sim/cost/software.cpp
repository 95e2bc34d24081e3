#include "sim/cost/software.h"

#include "sim/base/fields.h"
#include "sim/cost/field_kinds.h"

namespace trainyard {
namespace {

// Fitted to whole steps a share may pass one: it stands for the losses beside it too.
FieldInfo fitted_share(std::string_view help)
{
    return {.help = help, .min = 0, .max = 10};
}

FieldTable<SoftwareClass> habits()
{
    using S = SoftwareClass;
    return FieldTable<S>("software", "What a framework class does to a device.")
        .field("name", &S::name, {.help = "of the class"})
        .field("description", &S::description, {.help = "which frameworks and versions"})
        .field("host_per_kernel_forward", &S::host_per_kernel_forward,
               not_negative("host time to issue a kernel"))
        .field("host_per_kernel_backward", &S::host_per_kernel_backward,
               not_negative("the same in backward"))
        .field("cuda_graph_factor", &S::cuda_graph_factor,
               fitted_share("host time with CUDA graphs / without"))
        .field("kernels", &S::kernels, {.help = "which kernels it runs"})
        .field("spare_weight_gradients", &S::spare_weight_gradients,
               {.help = "fp32 sums leave a gradient per shape of weight unused"})
        .field("copies_into_buckets", &S::copies_into_buckets,
               {.help = "DDP holds gradients twice"})
        .field("pads_vocabulary", &S::pads_vocabulary, {.help = "to a multiple of 128 x tp"})
        .field("fp32_gradients", &S::fp32_gradients,
               {.help = "gradients are accumulated and reduced in fp32"})
        .field("gathers_narrow_parameters", &S::gathers_narrow_parameters,
               {.help = "parameters are stored and gathered in fp8 or mxfp8, by default"})
        .field("sequence_parallel", &S::sequence_parallel, {.help = "by default where tp > 1"})
        .field("overlaps_dp", &S::overlaps_dp, {.help = "by default"})
        .field("overlaps_tp", &S::overlaps_tp, {.help = "by default"})
        .field("overlaps_pp", &S::overlaps_pp, {.help = "by default"})
        .field("recompute", &S::recompute, {.help = "by default"})
        .field("blocking_p2p", &S::blocking_p2p,
               {.help = "the host waits for each send and receive"})
        .field("blocking_p2p_time", &S::blocking_p2p_time,
               not_negative("host time each takes besides"))
        .field("fsdp_copies", &S::fsdp_copies, {.help = "FSDP copies through flat buffers"});
}

} // namespace

template <>
const FieldTable<SoftwareClass>& fields_of<SoftwareClass>()
{
    using S = SoftwareClass;
    static const auto table =
        habits()
            .field("tp_exposed_share", &S::tp_exposed_share,
                   fitted_share("of overlapped TP communication"))
            .field("regather_exposed_share", &S::regather_exposed_share,
                   fitted_share("of the all-gather repeated in backward"))
            .field("ep_exposed_share", &S::ep_exposed_share,
                   fitted_share("of dispatch and combine"))
            .field("cp_exposed_share", &S::cp_exposed_share, fitted_share("of ring exchanges"))
            .field("p2p_exposed_share", &S::p2p_exposed_share,
                   fitted_share("of overlapped sends between stages"))
            .field("overlap_slowdown", &S::overlap_slowdown,
                   fitted_share("phi: compute lost per share of the line rate in use"))
            .field("elementwise_factor", &S::elementwise_factor,
                   factor("memory traffic of elementwise kernels / that listed"))
            .field("moe_elementwise_factor", &S::moe_elementwise_factor,
                   factor("the same of MoE kernels"))
            .field("normalisation_factor", &S::normalisation_factor,
                   factor("the same of batch norm"))
            .field("expert_gemm_16", &S::expert_gemm_16,
                   factor("efficiency of grouped GEMMs / dense ones, 16 bit"))
            .field("expert_gemm_8", &S::expert_gemm_8, factor("the same, fp8"))
            .field("attention_across_cp", &S::attention_across_cp,
                   factor("efficiency of attention over several CP ranks' keys"))
            .field("recompute_factor", &S::recompute_factor,
                   factor("time of a recomputed forward / of a forward"))
            .field("optimizer_bytes_per_parameter", &S::optimizer_bytes_per_parameter,
                   not_negative("through device memory, per parameter updated"))
            .field("optimizer_kernels", &S::optimizer_kernels, {.help = "per step", .min = 1})
            .field("optimizer_time", &S::optimizer_time, not_negative("of a step besides"))
            .field("step_overhead", &S::step_overhead, not_negative("of a step outside the model"));
    return table;
}

void check(const Reader& reader, const SoftwareClass& software)
{
    if (software.name.empty())
        reader.error("\"name\" is missing from software");
    if (software.host_per_kernel_forward.value() > 1e-3)
        reader.warn("\"host_per_kernel_forward\" is implausibly large", "2 to 50 us are usual");
    if (software.step_overhead.value() > 10)
        reader.warn("\"step_overhead\" is implausibly large", "milliseconds are usual");
}

} // namespace trainyard
