#include "sim/cost/nccl_settings.h"

#include "sim/cost/algorithms/algorithm.h"

#include <algorithm>

namespace trainyard {
namespace {

template <class Keep>
void keep_some(std::vector<TimeLine>& lines, Keep keep)
{
    std::vector<TimeLine> kept;
    std::ranges::copy_if(lines, std::back_inserter(kept), keep);
    if (!kept.empty())
        lines = std::move(kept);
}

// Share of the rate that `most` of the channels in use carry.
double channel_share(int most, int used)
{
    return most > 0 && most < used ? static_cast<double>(most) / used : 1.0;
}

PerCollective<double> scaled(PerCollective<double> values, double share)
{
    using P = PerCollective<double>;
    for (double P::*value : {&P::all_reduce, &P::all_gather, &P::reduce_scatter, &P::all_to_all,
                             &P::broadcast, &P::reduce, &P::send_receive})
        values.*value *= share;
    return values;
}

} // namespace

GroupShape NcclSettings::seen(const GroupShape& shape) const
{
    GroupShape out = shape;
    if (host_path) {
        // A domain of several nodes falls into these: host memory is a node's own.
        out.nvlink = Bandwidth(0);
        out.nvswitch = out.in_switch_reduction = false;
        if (shape.nodes > shape.domains) {
            out.domains = shape.nodes;
            out.ranks_per_domain = shape.ranks_per_node;
            out.fewest_per_domain = 0;
            out.nodes_per_domain = 1;
        }
    }
    if (one_rank_domains) {
        out.domains = out.ranks;
        out.ranks_per_domain = 1;
        out.fewest_per_domain = 1;
    }
    if (sockets && (shape.network.transport == Transport::infiniband ||
                    shape.network.transport == Transport::roce))
    {
        out.network.transport = Transport::tcp;
        out.network.gpu_direct = false;
        out.network.in_network_reduction = false;
    }
    if (!gpu_direct)
        out.network.gpu_direct = false;
    if (!nvls)
        out.in_switch_reduction = false;
    if (!in_network_reduction)
        out.network.in_network_reduction = false;
    return out;
}

FabricClass NcclSettings::fabric(const FabricClass& usual) const
{
    FabricClass out = host_path.value_or(usual);
    const double share = channel_share(most_channels, out.sms_held);
    out.efficiency = scaled(out.efficiency, share);
    out.efficiency_ll *= share;
    out.efficiency_ll128 *= share;
    out.nvls_efficiency *= channel_share(most_channels, out.sms_held_nvls);
    for (int* held : {&out.sms_held, &out.sms_held_nvls}) {
        if (most_channels > 0)
            *held = std::min(*held, most_channels);
        *held = std::max(*held, least_channels);
    }
    return out;
}

NetworkClass NcclSettings::network(const NetworkClass& usual) const
{
    NetworkClass out = sockets.value_or(usual);
    if (max_per_nic)
        out.max_per_nic = *max_per_nic;
    return out;
}

std::vector<TimeLine> NcclSettings::lines(CollectiveKind kind, const GroupShape& shape,
                                          const CollectiveClasses& classes) const
{
    return allowed(time_lines(kind, seen(shape), classes, algorithms));
}

std::vector<TimeLine> NcclSettings::allowed(std::vector<TimeLine> lines) const
{
    const auto among = [](const auto& some, const auto& one) {
        return some.empty() || std::ranges::find(some, one) != some.end();
    };
    const bool any = std::ranges::any_of(
        lines, [&](const TimeLine& line) { return among(algorithms, line.algorithm); });
    if (any)
        keep_some(lines, [&](const TimeLine& line) { return among(algorithms, line.algorithm); });
    else
        keep_some(lines,
                  [](const TimeLine& line) { return line.algorithm->sums == Sums::on_ranks; });
    keep_some(lines, [&](const TimeLine& line) { return among(protocols, line.protocol); });
    return lines;
}

} // namespace trainyard
