#include "sim/cost/collective_form.h"

#include "sim/cost/algorithms/algorithm.h"

#include <algorithm>
#include <cmath>

namespace trainyard {

bool is_pairwise(CollectiveKind kind)
{
    return kind == CollectiveKind::all_to_all || kind == CollectiveKind::send_receive;
}

double bus_factor(CollectiveKind kind, int ranks)
{
    const double n = ranks;
    switch (kind) {
    case CollectiveKind::all_reduce:
    case CollectiveKind::barrier:
        return 2 * (n - 1) / n;
    case CollectiveKind::all_gather:
    case CollectiveKind::reduce_scatter:
    case CollectiveKind::all_to_all:
        return (n - 1) / n;
    case CollectiveKind::broadcast:
    case CollectiveKind::reduce:
    case CollectiveKind::send_receive:
        break;
    }
    return n > 1 ? 1 : 0;
}

Bandwidth domain_rate(const GroupShape& shape, const FabricClass& fabric)
{
    for (const Bandwidth rate : {shape.nvlink, shape.pcie})
        if (rate.value() > 0)
            return shape.health.inside * rate;
    return shape.health.inside * fabric.line_rate;
}

Bandwidth network_rate(const GroupShape& shape, const NetworkClass& network)
{
    double line = shape.nic_rate_per_gpu().value();
    if (!(line > 0))
        line = network.line_rate.value();
    // A NIC carries no more than its PCIe slot, and a device no more than its own.
    const double one_nic = shape.network.nic_rate.value();
    const double pcie = shape.pcie.value();
    for (const double limit : {network.max_per_nic.value(), pcie})
        if (limit > 0 && one_nic > limit)
            line = std::min(line, shape.nic_rate_per_gpu().value() * limit / one_nic);
    if (pcie > 0)
        line = std::min(line, pcie);
    const bool rdma = shape.network.transport != Transport::tcp;
    if (rdma && !shape.network.gpu_direct)
        line *= network.staged_efficiency;
    return Bandwidth(line * shape.health.across * shape.crossing_ranks() * network.efficiency);
}

Bandwidth channel_rate(const GroupShape& shape, const NetworkClass& network)
{
    const Bandwidth nics = network_rate(shape, network);
    return network.max_per_communicator.value() > 0
               ? std::min(nics, network.efficiency * network.max_per_communicator)
               : nics;
}

double domain_hops(double n)
{
    return n <= 8 ? n - 1 : 7.0 / 3 * std::log2(n);
}

CollectiveTerms::CollectiveTerms(CollectiveKind of, const GroupShape& shape,
                                 const CollectiveClasses& classes)
    : kind(of),
      fabric(*classes.fabric),
      form(*classes.form),
      hop_ll((fabric.hop_ll + shape.health.inside_latency).value()),
      hop_simple((fabric.hop_simple + shape.health.inside_latency).value()),
      n(shape.ranks),
      r(shape.ranks_per_domain),
      crossing(shape.crossing_ranks()),
      domains(shape.domains),
      log_domains(std::log2(std::max(1, shape.domains))),
      domain_rate(trainyard::domain_rate(shape, fabric).value()),
      all_reduces(kind == CollectiveKind::all_reduce || kind == CollectiveKind::barrier),
      pairwise(is_pairwise(kind)),
      nvswitch_sums(shape.in_switch_reduction && fabric.nvls_efficiency > 0 && r > 2),
      network_sums(shape.network.in_network_reduction),
      base_factor(pairwise ? fabric.p2p_base_factor : 1),
      passes(pairwise      ? form.hops_p2p
             : all_reduces ? form.hops_all_reduce
                           : 1),
      bus(bus_factor(kind, shape.ranks)),
      volume(bus)
{
    const bool gathers =
        kind == CollectiveKind::all_gather || kind == CollectiveKind::reduce_scatter;
    if (kind == CollectiveKind::all_to_all)
        volume += fabric.local_copy_p2p / n;
    else if (all_reduces || gathers)
        volume += fabric.local_copy / n;
    if (shape.domains <= 1)
        return;
    const NetworkClass& network = *classes.network;
    latency = network.latency.value() + shape.health.across_latency.value();
    network_rate =
        pairwise ? trainyard::network_rate(shape, network).value() / shape.network.oversubscription
                 : channel_rate(shape, network).value();
}

ProtocolTerms CollectiveTerms::with(Protocol protocol) const
{
    switch (protocol) {
    case Protocol::ll:
        return {fabric.base_ll.value(), hop_ll, fabric.efficiency_ll, form.cross_ll, 1};
    case Protocol::ll128:
        return {fabric.base_ll128.value(), hop_ll, fabric.efficiency_ll128, form.cross_ll128,
                form.tree_latency_ll128};
    case Protocol::simple:
        break;
    }
    return {fabric.base_simple.value(), hop_simple, fabric.efficiency.at(kind), 1,
            form.tree_latency_simple};
}

double CollectiveTerms::two_levels(double inside, double efficiency, double out,
                                   double out_efficiency) const
{
    const double in_domain = r > 1 ? inside / (efficiency * domain_rate) : 0;
    return domains > 1 ? std::max(in_domain, out / (out_efficiency * network_rate)) : in_domain;
}

TimeLine line_in_domain(const CollectiveTerms& t, const ProtocolTerms& p)
{
    return {Seconds(t.base_factor * p.base + t.passes * p.hop * domain_hops(t.n)),
            t.volume / (p.efficiency * t.domain_rate)};
}

std::vector<TimeLine> time_lines(CollectiveKind kind, const GroupShape& shape,
                                 const CollectiveClasses& classes,
                                 std::span<const Algorithm* const> asked)
{
    if (shape.ranks <= 1)
        return {TimeLine{}};
    const CollectiveTerms terms(kind, shape, classes);
    std::vector<TimeLine> lines;
    for (const Algorithm* algorithm : all_algorithms()) {
        const Algorithm::Form form =
            (shape.domains > 1 ? algorithm->across : algorithm->inside).at(kind);
        const bool taken =
            algorithm->unasked(terms) || std::ranges::find(asked, algorithm) != asked.end();
        if (form == nullptr || !algorithm->available(terms) || !taken)
            continue;
        for (const Protocol protocol : algorithm->protocols) {
            TimeLine& line = lines.emplace_back(form(terms, terms.with(protocol)));
            line.algorithm = algorithm;
            line.protocol = protocol;
        }
    }
    return lines;
}

const TimeLine& lowest(const std::vector<TimeLine>& lines, Bytes size)
{
    return *std::min_element(lines.begin(), lines.end(), [&](const TimeLine& a, const TimeLine& b) {
        return a.at(size) < b.at(size);
    });
}

} // namespace trainyard
