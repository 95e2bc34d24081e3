#include "sim/base/fields.h"
#include "sim/strategy/schedule.h"
#include "sim/strategy/training.h"

#include <fmt/ranges.h>

namespace trainyard {

template <>
std::vector<EnumName<DataParallelScheme>> enum_names<DataParallelScheme>()
{
    return {{DataParallelScheme::ddp, "ddp"},
            {DataParallelScheme::single_process, "single-process"}};
}

template <>
const FieldTable<Overlap>& fields_of<Overlap>()
{
    static const auto table =
        FieldTable<Overlap>("overlap", "Which communication runs beside compute; else as the "
                                       "framework does.")
            .field("dp", &Overlap::dp, {.help = "gradient reduction and parameter gather"})
            .field("tp", &Overlap::tp, {.help = "tensor-parallel collectives with their GEMMs"})
            .field("pp", &Overlap::pp, {.help = "sends and receives between pipeline stages"})
            .field("ep", &Overlap::ep,
                   {.help = "exchanges between experts of one micro-batch with the compute of "
                            "another: forward and backward passes take turns"});
    return table;
}

template <>
const FieldTable<Strategy>& fields_of<Strategy>()
{
    static const auto table =
        FieldTable<Strategy>("strategy", "How the work is spread over ranks.")
            .field("tp", &Strategy::tp, {.help = "tensor-parallel ranks", .min = 1, .max = 1e6})
            .field("pp", &Strategy::pp, {.help = "pipeline stages", .min = 1, .max = 1e6})
            .field("vpp", &Strategy::vpp,
                   {.help = "virtual stages per device", .min = 1, .max = 1e6})
            .field("cp", &Strategy::cp, {.help = "context-parallel ranks", .min = 1, .max = 1e6})
            .field("ep", &Strategy::ep, {.help = "expert-parallel ranks", .min = 1, .max = 1e6})
            .field("etp", &Strategy::etp,
                   {.help = "tensor-parallel ranks of experts", .min = 1, .max = 1e6})
            .field("dp", &Strategy::dp,
                   {.help = "data-parallel replicas; else what is left of the topology",
                    .min = 1,
                    .max = 1e6})
            .field("zero", &Strategy::zero,
                   {.help = "0: DDP, 1: optimizer states cut (distributed optimizer), 2: gradients "
                            "too, 3: parameters too (FSDP / ZeRO-3)",
                    .min = 0,
                    .max = 3})
            .field("shard_group", &Strategy::shard_group,
                   {.help = "HSDP: ranks over which states are cut, a divisor of dp x cp; the rest "
                            "are replicas; absent: all",
                    .min = 1,
                    .max = 1e6})
            .field("data_parallel", &Strategy::data_parallel,
                   {.help = "ddp: a process per device; single-process: one for all devices of a "
                            "host (torch.nn.DataParallel)"})
            .field("sequence_parallel", &Strategy::sequence_parallel,
                   {.help = "norms and residuals cut along the sequence over the TP group; else "
                            "on where the framework does so"})
            .field("schedule", &Strategy::schedule,
                   {.help = "order of pipeline passes: " +
                            fmt::format("{}", fmt::join(schedule_names(), ", ")) +
                            "; 1f1b with vpp > 1 is interleaved"})
            .field("stage_layers", &Strategy::stage_layers,
                   {.help = "transformer layers of each (virtual) stage, front to back; else even"})
            .field("pipeline", &Strategy::pipeline, {.help = "how the pipeline runs"})
            .field("tensor_parallel", &Strategy::tensor, {.help = "how tensor parallelism runs"})
            .field("context", &Strategy::context, {.help = "how context parallelism runs"})
            .field("experts", &Strategy::experts, {.help = "how expert parallelism runs"})
            .field("overlap", &Strategy::overlap,
                   {.help = "which communication runs beside compute"})
            .field("bucket_cap", &Strategy::bucket_cap,
                   {.help = "gradients reduced together by DDP", .min = 1})
            .field("first_bucket", &Strategy::first_bucket,
                   {.help = "size of DDP's first bucket", .min = 1})
            .field("prefetch", &Strategy::prefetch,
                   {.help = "FSDP units gathered ahead", .min = 0, .max = 64})
            .field("reshard_after_forward", &Strategy::reshard_after_forward,
                   {.help = "FSDP frees a unit after forward and gathers it again for backward; "
                            "absent: unless pp > 1"})
            .field("ddp", &Strategy::ddp, {.help = "options of DDP"})
            .field("sharding", &Strategy::sharding, {.help = "options of ZeRO-1 and ZeRO-2"})
            .field("fsdp", &Strategy::fsdp, {.help = "options of FSDP"})
            .field("offload", &Strategy::offload, {.help = "what lives outside device memory"})
            .field("backend", &Strategy::backend, {.help = "communication library"})
            .field("backends", &Strategy::backends,
                   {.help = "communication libraries of single dimensions"})
            .field("rank_order", &Strategy::rank_order,
                   {.help = "dimensions of the rank grid from the fastest, e.g. tp-cp-dp-pp"})
            .field("gpus_per_domain", &Strategy::gpus_per_domain,
                   {.help = "GPUs of each NVLink domain that ranks run on, the others being idle: "
                            "64 of the 72 of a rack hold whole groups of 64; 0: all",
                    .min = 0,
                    .max = 1e6});
    return table;
}

} // namespace trainyard
