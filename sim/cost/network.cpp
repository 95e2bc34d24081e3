#include "sim/cost/network.h"

#include "sim/base/fields.h"
#include "sim/base/units.h"
#include "sim/base/vocabulary.h"
#include "sim/cost/field_kinds.h"

#include <fmt/core.h>

namespace trainyard {

template <>
const FieldTable<PerCollective<double>>& fields_of<PerCollective<double>>()
{
    using P = PerCollective<double>;
    static const auto table = FieldTable<P>("per_collective", "One value per kind of collective.")
                                  .field("all_reduce", &P::all_reduce, share("share"))
                                  .field("all_gather", &P::all_gather, share("share"))
                                  .field("reduce_scatter", &P::reduce_scatter, share("share"))
                                  .field("all_to_all", &P::all_to_all, share("share"))
                                  .field("broadcast", &P::broadcast, share("share"))
                                  .field("reduce", &P::reduce, share("share"))
                                  .field("send_receive", &P::send_receive, share("share"));
    return table;
}

template <>
const FieldTable<FabricClass>& fields_of<FabricClass>()
{
    using F = FabricClass;
    static const auto table =
        FieldTable<F>("fabric", "Links inside an NVLink domain or a PCIe server.")
            .field("name", &F::name, {.help = "of the class"})
            .field("aliases", &F::aliases, {.help = "other names"})
            .field("line_rate", &F::line_rate,
                   not_negative("per device and direction, where the topology does not say"))
            .field("base_ll", &F::base_ll, not_negative("latency without hops, LL"))
            .field("base_ll128", &F::base_ll128, not_negative("latency without hops, LL128"))
            .field("base_simple", &F::base_simple, not_negative("latency without hops, simple"))
            .field("hop_ll", &F::hop_ll, not_negative("latency per hop, LL and LL128"))
            .field("hop_simple", &F::hop_simple, not_negative("latency per hop, simple"))
            .field("efficiency_ll", &F::efficiency_ll, share("of the line rate, LL"))
            .field("efficiency_ll128", &F::efficiency_ll128, share("of the line rate, LL128"))
            .field("efficiency", &F::efficiency, {.help = "of the line rate, simple"})
            .field("local_copy", &F::local_copy,
                   not_negative("copy of a rank's own part, in shares of the part's transfer"))
            .field("local_copy_p2p", &F::local_copy_p2p, not_negative("the same in all-to-all"))
            .field("p2p_base_factor", &F::p2p_base_factor,
                   factor("base latency of all-to-all and send/receive against the others"))
            .field("nvls_per_rank", &F::nvls_per_rank,
                   not_negative("in-switch reduction: latency per rank of the domain"))
            .field("nvls_efficiency", &F::nvls_efficiency,
                   share("in-switch reduction: of the line rate; 0: there is none"))
            .field("sms_held", &F::sms_held,
                   {.help = "SMs of a communication kernel that moves much", .min = 0, .max = 256})
            .field("sms_held_nvls", &F::sms_held_nvls,
                   {.help = "the same with in-switch reduction", .min = 0, .max = 256})
            .field("in_situ", &F::in_situ,
                   factor("time inside a training step / time in nccl-tests"))
            .field("in_situ_all_to_all", &F::in_situ_all_to_all, factor("the same of all-to-all"));
    return table;
}

template <>
const FieldTable<NetworkClass>& fields_of<NetworkClass>()
{
    using N = NetworkClass;
    static const auto table =
        FieldTable<N>("network", "A network between NVLink domains.")
            .field("name", &N::name, {.help = "as topologies name it"})
            .field("aliases", &N::aliases, {.help = "other names"})
            .field("line_rate", &N::line_rate,
                   not_negative("of one NIC, where the topology does not say"))
            .field("latency", &N::latency, not_negative("of one crossing, library included"))
            .field("efficiency", &N::efficiency, share("of the line rate"))
            .field("max_per_nic", &N::max_per_nic, not_negative("0: the line rate"))
            .field("max_per_communicator", &N::max_per_communicator,
                   not_negative("rings and trees of one communicator out of a domain; 0: no limit"))
            .field("staged_efficiency", &N::staged_efficiency,
                   share("of the rate without GPUDirect RDMA"))
            .field("in_situ", &N::in_situ,
                   factor("time inside a training step / time in nccl-tests"))
            .field("in_situ_all_to_all", &N::in_situ_all_to_all, factor("the same of all-to-all"));
    return table;
}

template <>
const FieldTable<CollectiveForm>& fields_of<CollectiveForm>()
{
    using C = CollectiveForm;
    static const auto table =
        FieldTable<C>("collectives", "What NCCL's closed form takes beside fabric and network.")
            .field("cross_ll", &C::cross_ll, share("LL across domains / simple"))
            .field("cross_ll128", &C::cross_ll128, share("LL128 across domains / simple"))
            .field("tree_latency_ll128", &C::tree_latency_ll128,
                   factor("crossings per level of a tree, LL128"))
            .field("tree_latency_simple", &C::tree_latency_simple,
                   factor("crossings per level of a tree, simple"))
            .field("tree_beyond_two", &C::tree_beyond_two,
                   share("bandwidth of trees over more than two domains"))
            .field("ring_entry_crossings", &C::ring_entry_crossings,
                   not_negative("crossings of a ring beside one per domain"))
            .field("post_per_remote_peer", &C::post_per_remote_peer, not_negative("of all-to-all"))
            .field("all_to_all_cross", &C::all_to_all_cross,
                   share("all-to-all across domains / rings"))
            .field("hops_all_reduce", &C::hops_all_reduce, factor("passes over a domain's hops"))
            .field("hops_p2p", &C::hops_p2p, factor("the same of all-to-all and send/receive"))
            .field("creation", &C::creation, not_negative("of a communicator"))
            .field("creation_per_rank", &C::creation_per_rank, not_negative("of a communicator"));
    return table;
}

void check(const Reader& reader, const FabricClass& fabric)
{
    need_positive(reader, "fabric",
                  {{"base_ll", fabric.base_ll.value()},
                   {"base_ll128", fabric.base_ll128.value()},
                   {"base_simple", fabric.base_simple.value()},
                   {"efficiency_ll", fabric.efficiency_ll},
                   {"efficiency_ll128", fabric.efficiency_ll128},
                   {"efficiency/all_reduce", fabric.efficiency.all_reduce},
                   {"efficiency/all_gather", fabric.efficiency.all_gather},
                   {"efficiency/reduce_scatter", fabric.efficiency.reduce_scatter},
                   {"efficiency/all_to_all", fabric.efficiency.all_to_all},
                   {"efficiency/broadcast", fabric.efficiency.broadcast},
                   {"efficiency/reduce", fabric.efficiency.reduce},
                   {"efficiency/send_receive", fabric.efficiency.send_receive}});
    if (fabric.nvls_efficiency > 0 && !(fabric.nvls_per_rank.value() > 0))
        reader.error("\"nvls_per_rank\" is missing from fabric",
                     "in-switch reduction needs its latency");
    if (fabric.line_rate.value() > 4e12)
        reader.warn("\"line_rate\" is implausibly large",
                    "NVLink 5 carries 900 GB/s in each direction");
}

void check(const Reader& reader, const NetworkClass& network)
{
    need_positive(reader, "network",
                  {{"latency", network.latency.value()}, {"efficiency", network.efficiency}});
    if (network.line_rate.value() > 200e9)
        reader.warn("\"line_rate\" is implausibly large",
                    fmt::format("{} for one NIC? {} Gb/s is usual", to_text(network.line_rate),
                                network.line_rate.value() >= 800e9 ? 800 : 400));
    if (network.latency.value() > 10e-3)
        reader.warn("\"latency\" is implausibly large", "10 to 150 us are usual");
}

void check(const Reader& reader, const CollectiveForm& form)
{
    need_positive(reader, "collectives",
                  {{"cross_ll", form.cross_ll},
                   {"cross_ll128", form.cross_ll128},
                   {"tree_beyond_two", form.tree_beyond_two},
                   {"all_to_all_cross", form.all_to_all_cross}});
}

} // namespace trainyard
