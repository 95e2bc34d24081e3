// Fields of the libraries' constants.

#include "sim/base/fields.h"
#include "sim/cost/field_kinds.h"
#include "sim/cost/libraries.h"

namespace trainyard {

template <>
const FieldTable<GlooClass>& fields_of<GlooClass>()
{
    using G = GlooClass;
    static const auto table =
        FieldTable<G>("gloo", "Gloo over TCP.")
            .field("latency", &G::latency, not_negative("of one step"))
            .field("max_per_communicator", &G::max_per_communicator,
                   not_negative("copies and one socket thread"))
            .field("network_efficiency", &G::network_efficiency, share("of the NIC's line rate"));
    return table;
}

template <>
const FieldTable<UcxClass>& fields_of<UcxClass>()
{
    using U = UcxClass;
    static const auto table =
        FieldTable<U>("ucx", "UCX with the collectives of UCC.")
            .field("latency_inside", &U::latency_inside,
                   not_negative("of a message between devices of a domain"))
            .field("latency_across", &U::latency_across, not_negative("of one over the network"))
            .field("sum", &U::sum, not_negative("kernel that adds in each step of a sum"))
            .field("efficiency_inside", &U::efficiency_inside, share("of the line rate"))
            .field("efficiency_across", &U::efficiency_across, share("of the NIC's line rate"))
            .field("sum_bandwidth", &U::sum_bandwidth, share("of the device memory's, adding"));
    return table;
}

template <>
const FieldTable<NvshmemClass>& fields_of<NvshmemClass>()
{
    using N = NvshmemClass;
    static const auto table =
        FieldTable<N>("nvshmem", "Symmetric memory: kernels that read and write peers directly.")
            .field("collective", &N::collective,
                   not_negative("smallest collective in a domain: launch and barriers"))
            .field("barrier", &N::barrier, not_negative("one more barrier"))
            .field("put_inside", &N::put_inside, not_negative("of a message from a running kernel"))
            .field("put_across", &N::put_across, not_negative("the same over the network"))
            .field("efficiency_inside", &N::efficiency_inside, share("of the line rate"))
            .field("efficiency_across", &N::efficiency_across, share("of the NIC's line rate"))
            .field("sms_held", &N::sms_held,
                   {.help = "SMs of a collective that moves much", .min = 0, .max = 256});
    return table;
}

template <>
const FieldTable<MpiClass>& fields_of<MpiClass>()
{
    using M = MpiClass;
    static const auto table =
        FieldTable<M>("mpi", "MPI between host memories.")
            .field("latency_inside", &M::latency_inside,
                   not_negative("of a message between ranks of a host"))
            .field("latency_across", &M::latency_across, not_negative("of one over the network"))
            .field("rate_inside", &M::rate_inside,
                   not_negative("of a message between two ranks of a host"))
            .field("efficiency_across", &M::efficiency_across, share("of the NIC's line rate"))
            .field("sum_rate", &M::sum_rate,
                   not_negative("bytes of two inputs and a result per second of one core"));
    return table;
}

void check(const Reader& reader, const GlooClass& gloo)
{
    need_positive(reader, "gloo",
                  {{"latency", gloo.latency.value()},
                   {"max_per_communicator", gloo.max_per_communicator.value()},
                   {"network_efficiency", gloo.network_efficiency}});
}

void check(const Reader& reader, const UcxClass& ucx)
{
    need_positive(reader, "ucx",
                  {{"latency_inside", ucx.latency_inside.value()},
                   {"latency_across", ucx.latency_across.value()},
                   {"efficiency_inside", ucx.efficiency_inside},
                   {"efficiency_across", ucx.efficiency_across},
                   {"sum_bandwidth", ucx.sum_bandwidth}});
}

void check(const Reader& reader, const NvshmemClass& nvshmem)
{
    need_positive(reader, "nvshmem",
                  {{"collective", nvshmem.collective.value()},
                   {"put_inside", nvshmem.put_inside.value()},
                   {"put_across", nvshmem.put_across.value()},
                   {"efficiency_inside", nvshmem.efficiency_inside},
                   {"efficiency_across", nvshmem.efficiency_across}});
}

void check(const Reader& reader, const MpiClass& mpi)
{
    need_positive(reader, "mpi",
                  {{"latency_inside", mpi.latency_inside.value()},
                   {"latency_across", mpi.latency_across.value()},
                   {"rate_inside", mpi.rate_inside.value()},
                   {"efficiency_across", mpi.efficiency_across},
                   {"sum_rate", mpi.sum_rate.value()}});
}

} // namespace trainyard
