#include "sim/cost/libraries.h"

#include "sim/cost/collective_form.h"

#include <algorithm>
#include <cmath>

namespace trainyard {
namespace {

bool adds_up(CollectiveKind kind)
{
    return kind == CollectiveKind::all_reduce || kind == CollectiveKind::reduce_scatter ||
           kind == CollectiveKind::reduce;
}

// Of the bytes a rank sends, f S, the part that leaves its domain: sums and gathers cross once per
// domain, r ranks sharing the work; pairs cross one by one.
double leaving(CollectiveKind kind, const GroupShape& shape)
{
    if (shape.domains <= 1)
        return 0;
    const double n = shape.ranks;
    const double r = shape.crossing_ranks();
    const double d = shape.domains;
    switch (kind) {
    case CollectiveKind::all_reduce:
    case CollectiveKind::barrier:
        return 2 * (d - 1) / d / r;
    case CollectiveKind::all_gather:
    case CollectiveKind::reduce_scatter:
        return (d - 1) / d / r;
    case CollectiveKind::all_to_all:
        return (n - r) / n;
    case CollectiveKind::broadcast:
    case CollectiveKind::reduce:
        return 1 / r;
    case CollectiveKind::send_receive:
        break;
    }
    return 1;
}

// Seconds to send `volume` buffers inside the domain while `out` of them leave it.
Seconds moving(double volume, double out, Bytes size, const GroupShape& shape,
               const LibraryLinks& links)
{
    const double bytes = static_cast<double>(size.value());
    const double inside = shape.ranks_per_domain > 1 ? volume * bytes / links.inside.value() : 0.0;
    const double across = out > 0 ? out * bytes / links.across.value() : 0.0;
    return Seconds(std::max(inside, across));
}

LibraryLinks at_efficiency(const LibraryLinks& links, double inside, double across)
{
    return {links.inside * inside, links.across * across, links.memory};
}

// Messages of the collectives that UCC and MPI libraries share.
struct Messages {
    Seconds latency_inside;
    Seconds latency_across;
    Seconds sum;        // added to each step of a sum
    Bandwidth sum_rate; // of two inputs and a result
    LibraryLinks links; // as achieved
};

LibraryTime message_time(CollectiveKind kind, Bytes size, const GroupShape& shape,
                         const Messages& messages)
{
    const LibraryLinks& links = messages.links;
    const double inside_steps = std::ceil(std::log2(shape.ranks_per_domain));
    const double across_steps = std::ceil(std::log2(shape.domains));
    const Seconds sum = adds_up(kind) ? messages.sum : Seconds(0);
    const bool pairs = kind == CollectiveKind::all_to_all || kind == CollectiveKind::send_receive;
    const Seconds pair = shape.domains > 1 ? messages.latency_across : messages.latency_inside;
    const Seconds tree = (messages.latency_inside + sum) * inside_steps +
                         (messages.latency_across + sum) * across_steps;
    const Seconds latency = pairs ? pair : tree;
    const double volume = bus_factor(kind, shape.ranks);
    const double out = leaving(kind, shape);
    const double bytes = static_cast<double>(size.value());
    const double added = adds_up(kind) ? 3.0 * (shape.ranks - 1) / shape.ranks * bytes : 0.0;
    const Seconds adding(added / messages.sum_rate.value());
    if (kind != CollectiveKind::all_reduce)
        return {latency, latency + moving(volume, out, size, shape, links) + adding};
    const Seconds once(3.0 * bytes / messages.sum_rate.value());
    const double steps = inside_steps + across_steps;
    const Seconds doubling =
        tree + once * steps +
        (inside_steps > 0 ? moving(inside_steps, 0, size, shape, links) : Seconds(0)) +
        Seconds(across_steps > 0 ? across_steps * bytes / links.across.value() : 0.0);
    const Seconds gather =
        messages.latency_inside * inside_steps + messages.latency_across * across_steps;
    const Seconds halving = tree + gather + moving(volume, out, size, shape, links) + adding;
    return {tree, std::min(doubling, halving)};
}

} // namespace

LibraryTime gloo_time(CollectiveKind kind, Bytes size, const GroupShape& shape,
                      const GlooClass& gloo)
{
    double rate = gloo.max_per_communicator.value();
    if (shape.domains > 1 && shape.nic_rate_per_gpu().value() > 0)
        rate = std::min(rate, shape.nic_rate_per_gpu().value() * shape.health.across *
                                  shape.crossing_ranks() * gloo.network_efficiency);
    const double steps = std::max(1.0, std::ceil(std::log2(shape.ranks)));
    const Seconds latency = gloo.latency * (kind == CollectiveKind::send_receive ? 1.0 : steps);
    const double bytes = bus_factor(kind, shape.ranks) * static_cast<double>(size.value());
    return {latency, latency + Seconds(bytes / rate)};
}

LibraryTime ucx_time(CollectiveKind kind, Bytes size, const GroupShape& shape, const UcxClass& ucx,
                     const LibraryLinks& line_rates)
{
    const Bandwidth sum_rate(ucx.sum_bandwidth * line_rates.memory.value());
    return message_time(kind, size, shape,
                        {ucx.latency_inside, ucx.latency_across, ucx.sum, sum_rate,
                         at_efficiency(line_rates, ucx.efficiency_inside, ucx.efficiency_across)});
}

LibraryTime mpi_time(CollectiveKind kind, Bytes size, const GroupShape& shape, const MpiClass& mpi,
                     Bandwidth across)
{
    return message_time(kind, size, shape,
                        {mpi.latency_inside,
                         mpi.latency_across,
                         Seconds(0),
                         mpi.sum_rate,
                         {mpi.rate_inside, across * mpi.efficiency_across, {}}});
}

LibraryTime nvshmem_time(CollectiveKind kind, Bytes size, const GroupShape& shape,
                         const NvshmemClass& nvshmem, const LibraryLinks& line_rates)
{
    const LibraryLinks links =
        at_efficiency(line_rates, nvshmem.efficiency_inside, nvshmem.efficiency_across);
    const bool across = shape.domains > 1;
    const double volume = bus_factor(kind, shape.ranks);
    const Seconds moved = moving(volume, leaving(kind, shape), size, shape, links);
    if (kind == CollectiveKind::send_receive) {
        const Seconds put = across ? nvshmem.put_across : nvshmem.put_inside;
        return {put, put + moved};
    }
    if (kind != CollectiveKind::all_reduce && kind != CollectiveKind::barrier) {
        const Seconds latency = nvshmem.collective + (across ? nvshmem.put_across : Seconds(0));
        return {latency, latency + moved};
    }
    if (across) { // sums out and results back
        const Seconds latency = nvshmem.collective + nvshmem.put_across * 2.0;
        return {latency, latency + moved};
    }
    const Seconds one_shot = nvshmem.collective + moving(shape.ranks - 1.0, 0, size, shape, links);
    const Seconds two_shot = nvshmem.collective + nvshmem.barrier + moved;
    return {nvshmem.collective, std::min(one_shot, two_shot)};
}

} // namespace trainyard
