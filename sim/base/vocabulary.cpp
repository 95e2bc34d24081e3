#include "sim/base/vocabulary.h"

namespace trainyard {

template <>
std::vector<EnumName<Grade>> enum_names<Grade>()
{
    return {{Grade::measured, "measured"},
            {Grade::published, "published"},
            {Grade::extrapolated, "extrapolated"},
            {Grade::datasheet, "datasheet"},
            {Grade::synthetic, "synthetic"}};
}

template <>
std::vector<EnumName<Precision>> enum_names<Precision>()
{
    return {{Precision::fp32, "fp32"},   {Precision::tf32, "tf32"},
            {Precision::fp16, "fp16"},   {Precision::bf16, "bf16"},
            {Precision::fp8, "fp8"},     {Precision::fp8_block, "fp8_block"},
            {Precision::mxfp8, "mxfp8"}, {Precision::nvfp4, "nvfp4"}};
}

template <>
std::vector<EnumName<CollectiveKind>> enum_names<CollectiveKind>()
{
    using enum CollectiveKind;
    return {{all_reduce, "all_reduce"},
            {all_gather, "all_gather"},
            {reduce_scatter, "reduce_scatter"},
            {all_to_all, "all_to_all"},
            {broadcast, "broadcast"},
            {reduce, "reduce"},
            {barrier, "barrier"},
            {send_receive, "send_receive"}};
}

template <>
std::vector<EnumName<GroupKind>> enum_names<GroupKind>()
{
    using enum GroupKind;
    return {{tp, "tp"},
            {cp, "cp"},
            {ep, "ep"},
            {etp, "etp"},
            {dp, "dp"},
            {edp, "edp"},
            {pp, "pp"},
            {embedding, "embedding"},
            {world, "world"},
            {shard, "shard"},
            {replicate, "replicate"},
            {cp_a2a, "cp_a2a"},
            {cp_ring, "cp_ring"},
            {twin, "twin"}};
}

template <>
std::vector<EnumName<Backend>> enum_names<Backend>()
{
    return {{Backend::nccl, "nccl"},
            {Backend::gloo, "gloo"},
            {Backend::ucx, "ucx"},
            {Backend::nvshmem, "nvshmem"},
            {Backend::mpi, "mpi"}};
}

std::string_view title_of(Backend backend)
{
    switch (backend) {
    case Backend::nccl:
        return "NCCL";
    case Backend::gloo:
        return "Gloo";
    case Backend::ucx:
        return "UCX";
    case Backend::nvshmem:
        return "NVSHMEM";
    case Backend::mpi:
        return "MPI";
    }
    return "";
}

template <>
std::vector<EnumName<Phase>> enum_names<Phase>()
{
    using enum Phase;
    return {{forward, "forward"},
            {backward, "backward"},
            {recompute, "recompute"},
            {optimizer, "optimizer"},
            {gradient_sync, "gradient_sync"},
            {parameter_sync, "parameter_sync"},
            {data, "data"},
            {other, "other"}};
}

} // namespace trainyard
