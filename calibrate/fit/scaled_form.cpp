#include "calibrate/fit/scaled_form.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

namespace trainyard {
namespace {

constexpr int fewest_points = 8;

bool chosen_by_nccl(const KnotTable& table)
{
    return table.backend == Backend::nccl && table.algorithm == "auto" &&
           table.protocol == "auto" && !table.in_place && table.grade == Grade::measured;
}

CollectiveClasses classes_of(const Hardware& hardware)
{
    return {&hardware.fabric, &hardware.network, &hardware.collectives};
}

// The measured sizes of a table: what was timed, not the corners between.
std::vector<TimedSize> measured_points(const KnotTable& table)
{
    std::set<Bytes> timed;
    for (const RawSample& sample : table.raw.samples)
        timed.insert(sample.size);
    std::vector<TimedSize> out;
    for (const Knot& knot : table.samples.knots)
        if (timed.empty() || timed.count(knot.size))
            out.push_back({knot.size, knot.time});
    return out;
}

std::vector<OfferedTime> offers(const Hardware& hardware, const KnotTable& table)
{
    std::vector<OfferedTime> out;
    const std::vector<TimeLine> lines =
        time_lines(table.collective, shape_of(table, hardware), classes_of(hardware));
    for (const TimedSize& point : measured_points(table)) {
        OfferedTime offer{{}, point};
        for (const TimeLine& line : lines)
            offer.candidates.push_back(
                {line.alpha.value(), line.beta * static_cast<double>(point.size.value())});
        out.push_back(std::move(offer));
    }
    return out;
}

Provenance measured(const ScaledForm& form)
{
    return {
        Grade::measured,
        fmt::format("the shipped constant x a factor fitted to {} measured points", form.points),
        Json(), Json()};
}

// A factor of one says nothing of the constants it is of.
void scale(FabricClass& fabric, const ScaledForm& form)
{
    const Provenance provenance = measured(form);
    const auto latency = [&](const char* name, Seconds& value) {
        value *= form.scalars.latency;
        if (form.scalars.latency != 1)
            fabric.provenance.insert_or_assign(name, provenance);
    };
    const auto share = [&](const std::string& name, double& value) {
        value = std::min(1.0, value * form.scalars.bandwidth);
        if (form.scalars.bandwidth != 1)
            fabric.provenance.insert_or_assign(name, provenance);
    };
    latency("base_ll", fabric.base_ll);
    latency("base_ll128", fabric.base_ll128);
    latency("base_simple", fabric.base_simple);
    latency("hop_ll", fabric.hop_ll);
    latency("hop_simple", fabric.hop_simple);
    latency("nvls_per_rank", fabric.nvls_per_rank);
    share("efficiency_ll", fabric.efficiency_ll);
    share("efficiency_ll128", fabric.efficiency_ll128);
    share("nvls_efficiency", fabric.nvls_efficiency);
    PerCollective<double>& simple = fabric.efficiency;
    share("efficiency.all_reduce", simple.all_reduce);
    share("efficiency.all_gather", simple.all_gather);
    share("efficiency.reduce_scatter", simple.reduce_scatter);
    share("efficiency.all_to_all", simple.all_to_all);
    share("efficiency.broadcast", simple.broadcast);
    share("efficiency.reduce", simple.reduce);
    share("efficiency.send_receive", simple.send_receive);
}

NetworkClass scaled(NetworkClass network, const TwoScalars& scalars)
{
    network.latency *= scalars.latency;
    network.efficiency = std::min(1.0, network.efficiency * scalars.bandwidth);
    return network;
}

// Of the tables across domains.
std::vector<OfferedTime> offers_across(Hardware hardware, std::span<const KnotTable> tables,
                                       const TwoScalars& scalars)
{
    hardware.network = scaled(hardware.network, scalars);
    std::vector<OfferedTime> out;
    for (const KnotTable& table : tables)
        if (chosen_by_nccl(table) && table.domains > 1)
            for (OfferedTime& offer : offers(hardware, table))
                out.push_back(std::move(offer));
    return out;
}

} // namespace

GroupShape shape_of(const KnotTable& table, const Hardware& hardware)
{
    GroupShape out;
    out.ranks = table.ranks_per_domain * table.domains;
    out.domains = table.domains;
    out.nodes = table.domains;
    out.ranks_per_domain = table.ranks_per_domain;
    out.ranks_per_node = table.ranks_per_domain;
    out.nvlink = table.nvlink.value() > 0 ? table.nvlink : hardware.device.nvlink;
    if (!(out.nvlink.value() > 0))
        out.pcie = hardware.fabric.line_rate;
    out.nvswitch = out.nvlink.value() > 0;
    const bool integer = table.data_type.starts_with("int") || table.data_type.starts_with("uint");
    out.in_switch_reduction = out.nvswitch && hardware.fabric.nvls_efficiency > 0 && !integer;
    out.gpus_per_node = table.ranks_per_domain;
    out.network.name = table.network;
    out.network.transport = Transport::infiniband;
    out.network.nic_rate = table.nic_rate.value() > 0 ? table.nic_rate : hardware.network.line_rate;
    out.network.nics = table.nics_per_domain > 0 ? table.nics_per_domain : table.ranks_per_domain;
    return out;
}

std::optional<ScaledForm> scale_fabric(Hardware& hardware, std::span<const KnotTable> tables)
{
    std::vector<OfferedTime> points;
    for (const KnotTable& table : tables)
        if (chosen_by_nccl(table) && table.domains == 1)
            for (OfferedTime& offer : offers(hardware, table))
                points.push_back(std::move(offer));
    if (points.size() < fewest_points)
        return std::nullopt;
    ScaledForm out;
    out.points = static_cast<int>(points.size());
    out.error_before = mean_error(points, {});
    out.scalars = fit_two_scalars(points);
    scale(hardware.fabric, out);
    points.clear();
    for (const KnotTable& table : tables)
        if (chosen_by_nccl(table) && table.domains == 1)
            for (OfferedTime& offer : offers(hardware, table))
                points.push_back(std::move(offer));
    out.error_after = mean_error(points, {});
    return out;
}

// The two act on maxima and minima, so that the best is looked for: a grid in the logarithms, made
// finer around the best point three times, from the constants as they are and from where they are
// as far off as the points.
std::optional<ScaledForm> scale_network(Hardware& hardware, std::span<const KnotTable> tables)
{
    constexpr int steps = 6; // to each side
    constexpr int rounds = 4;
    ScaledForm out;
    const std::vector<OfferedTime> shipped = offers_across(hardware, tables, {});
    out.points = static_cast<int>(shipped.size());
    if (out.points < fewest_points)
        return std::nullopt;
    out.error_before = mean_error(shipped, {});
    double least = out.error_before;
    const double slower = typical_ratio(shipped);
    const auto look_around = [&](TwoScalars centre, const Moves& moves) {
        const int latencies = moves.latency ? steps : 0;
        const int bandwidths = moves.bandwidth ? steps : 0;
        double width = std::log(6.0);
        for (int round = 0; round < rounds; ++round, width /= steps / 1.5) {
            TwoScalars best = centre;
            double error = std::numeric_limits<double>::infinity();
            for (int i = -latencies; i <= latencies; ++i)
                for (int j = -bandwidths; j <= bandwidths; ++j) {
                    const TwoScalars now{centre.latency * std::exp(width * i / steps),
                                         centre.bandwidth * std::exp(width * j / steps)};
                    const double here = mean_error(offers_across(hardware, tables, now), {});
                    if (here < error) {
                        error = here;
                        best = now;
                    }
                }
            centre = best;
            if (error + prior_cost(best) < least) {
                least = error + prior_cost(best);
                out.scalars = best;
            }
        }
    };
    for (const Moves& moves : every_move) {
        look_around({}, moves);
        look_around({moves.latency ? slower : 1, moves.bandwidth ? 1 / slower : 1}, moves);
    }
    out.scalars = settled(out.scalars);
    out.error_after = mean_error(offers_across(hardware, tables, out.scalars), {});
    hardware.network = scaled(hardware.network, out.scalars);
    if (out.scalars.latency != 1)
        hardware.network.provenance.insert_or_assign("latency", measured(out));
    if (out.scalars.bandwidth != 1)
        hardware.network.provenance.insert_or_assign("efficiency", measured(out));
    return out;
}

} // namespace trainyard
