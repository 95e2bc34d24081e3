// Latency and time of a collective: sweeps where the profile has them, closed forms elsewhere and
// for what no sweep was measured under: NCCL's settings, impaired links, other link rates.

#include "sim/cost/algorithms/direct.h"
#include "sim/cost/algorithms/ring.h"
#include "sim/cost/cost_model.h"

#include <algorithm>
#include <cmath>
#include <compare>

namespace trainyard {
namespace {

bool close(Bandwidth a, Bandwidth b)
{
    return std::abs(a.value() - b.value()) <= 0.01 * std::max(a.value(), b.value());
}

// Do the link rates agree with those of the sweep? A changed link is no longer that machine.
bool same_links(const KnotTable& table, const GroupShape& shape)
{
    const bool inside = shape.ranks_per_domain <= 1 || table.nvlink.value() <= 0 ||
                        close(table.nvlink, shape.nvlink);
    return inside && (shape.domains <= 1 || table.nic_rate.value() <= 0 ||
                      close(table.nic_rate, shape.network.nic_rate));
}

// The shape with the links of a sweep's machine.
GroupShape on_links_of(const KnotTable& sweep, GroupShape shape)
{
    if (sweep.nvlink.value() > 0)
        shape.nvlink = sweep.nvlink;
    if (shape.domains > 1)
        shape.network.nic_rate = sweep.nic_rate;
    return shape;
}

// Are the links of `shape` faster (greater) than those of `measured`, slower (less), or some of
// each (unordered)?
std::partial_ordering links_against(const GroupShape& measured, const GroupShape& shape)
{
    const auto inside = shape.nvlink.value() <=> measured.nvlink.value();
    const auto across = shape.network.nic_rate.value() <=> measured.network.nic_rate.value();
    if (inside == 0 || inside == across)
        return across;
    return across == 0 ? inside : std::partial_ordering::unordered;
}

// A form may be slower than a sweep. Faster links than the sweep's take no longer than it for all
// that, slower ones no less.
Seconds bounded(Seconds form, Seconds sweep, std::partial_ordering links)
{
    return links > 0 ? std::min(form, sweep) : links < 0 ? std::max(form, sweep) : form;
}

// The members of the fullest domain, as a group of their own.
GroupShape largest_domain(GroupShape shape)
{
    shape.ranks = shape.ranks_per_domain;
    shape.domains = 1;
    shape.nodes = std::min(shape.nodes, shape.nodes_per_domain);
    shape.fewest_per_domain = 0;
    shape.fabric_share = {};
    shape.health.across = 1.0;
    shape.health.across_latency = {};
    return shape;
}

// Time by a sweep. Its last slope holds to 4 times its largest size (1.8 % off there, 33 % at 64
// times); from there on, and where the last times do not rise, the time grows as the form does.
template <class Form>
Seconds time_by(const KnotCurve& sweep, const Form& form, Bytes size)
{
    const std::vector<Knot>& knots = sweep.knots;
    const Knot& last = knots.back();
    const bool rises = knots.size() > 1 && last.time > knots[knots.size() - 2].time;
    const std::uint64_t reach = rises ? 4 : 1; // in multiples of the largest size
    if (size.value() / reach <= last.size.value())
        return time_at(sweep, size);
    const Bytes end(last.size.value() * reach);
    return time_at(sweep, end) * (form(size) / form(end));
}

} // namespace

const KnotTable* CostModel::knots_for(CollectiveKind kind, const GroupShape& shape,
                                      Backend backend) const
{
    // In place only where nothing else was timed, as sums on hosts.
    const KnotTable* in_place = nullptr;
    const bool even = shape.ranks == shape.ranks_per_domain * shape.domains;
    for (const KnotTable& table : profile_.hardware.knots) {
        if (!even || table.collective != kind || table.backend != backend ||
            table.algorithm != "auto" || table.protocol != "auto" ||
            table.ranks_per_domain != shape.ranks_per_domain || table.domains != shape.domains)
            continue;
        const bool whole_domain =
            shape.domains <= 1 ||
            (table.network == profile_.hardware.network.name &&
             (table.nics_per_domain == 0 ||
              table.nics_per_domain == shape.network.nics * shape.nodes_per_domain) &&
             shape.ranks_per_domain == shape.gpus_per_node * shape.nodes_per_domain);
        if (!whole_domain || !same_links(table, shape))
            continue;
        if (!table.in_place)
            return &table;
        if (in_place == nullptr && on_host(backend))
            in_place = &table;
    }
    return in_place;
}

template <class FormOver>
CostModel::Timing CostModel::by_sweeps(Timing timing, CollectiveKind kind, Bytes size,
                                       const GroupShape& shape, Backend backend,
                                       const FormOver& form_over) const
{
    if (const KnotTable* table = knots_for(kind, shape, backend)) {
        // A sweep from small sizes on replaces the form; one that starts at large sizes corrects it
        // from there.
        const Knot& first = table->samples.knots.front();
        const bool whole = first.size <= Bytes(4096);
        timing.latency = whole ? first.time : std::min(timing.latency, first.time);
        if (whole || size >= first.size)
            timing.total = time_by(table->samples, form_over(shape), size);
        else
            timing.total = std::min(timing.total, first.time);
        return timing;
    }
    for (const KnotTable& sweep : profile_.hardware.knots) {
        if (sweep.backend != backend)
            continue;
        const GroupShape measured = on_links_of(sweep, shape);
        if (knots_for(kind, measured, backend) == &sweep &&
            size >= sweep.samples.knots.front().size)
            timing.total = bounded(timing.total, time_by(sweep.samples, form_over(measured), size),
                                   links_against(measured, shape));
    }
    timing.latency = std::min(timing.latency, timing.total);
    return timing;
}

CostModel::Timing CostModel::usual_timing(CollectiveKind kind, Bytes size,
                                          const GroupShape& shape) const
{
    const Hardware& hardware = profile_.hardware;
    const CollectiveClasses classes{&hardware.fabric, &hardware.network, &hardware.collectives};
    const auto form_over = [&](const GroupShape& over) {
        return [&classes, kind, over](Bytes at) {
            const std::vector<TimeLine> lines = time_lines(kind, over, classes);
            return lowest(lines, at).at(at);
        };
    };
    const std::vector<TimeLine> lines = time_lines(kind, shape, classes);
    const TimeLine& line = lowest(lines, size);
    return by_sweeps({lowest(lines, Bytes(0)).alpha, line.at(size), line.algorithm}, kind, size,
                     shape, Backend::nccl, form_over);
}

// Restricted to some algorithms, protocols or channels, a collective takes as much longer as the
// form says; on another path what the form says there, and no less than before.
CostModel::Timing CostModel::settled_timing(CollectiveKind kind, Bytes size,
                                            const GroupShape& shape) const
{
    const Hardware& hardware = profile_.hardware;
    const auto lines = nccl_.lines(kind, shape, {&fabric_, &network_, &hardware.collectives});
    const auto usual =
        time_lines(kind, shape, {&hardware.fabric, &hardware.network, &hardware.collectives});
    const TimeLine& line = lowest(lines, size);
    const bool tcp = shape.domains > 1 && shape.network.transport == Transport::tcp;
    if (tcp && nccl_.max_per_nic) // more sockets than usual, or fewer
        return {lowest(lines, Bytes(0)).alpha, line.at(size), line.algorithm};
    Timing timing = usual_timing(kind, size, shape);
    timing.algorithm = line.algorithm;
    const auto slower = [&](Bytes at) {
        return std::max(1.0, lowest(lines, at).at(at) / lowest(usual, at).at(at));
    };
    timing.latency *= slower(Bytes(0));
    const double ratio = slower(size);
    timing.total *= ratio;
    if (ratio > 1 && nccl_.other_path()) {
        timing.latency = std::max(timing.latency, lowest(lines, Bytes(0)).alpha);
        timing.total = std::max(timing.total, line.at(size));
    }
    return timing;
}

CostModel::Timing CostModel::nccl_timing(CollectiveKind kind, Bytes size,
                                         const GroupShape& shape) const
{
    if (shape.health != LinkHealth{})
        return impaired_timing(kind, size, shape);
    return nccl_ == NcclSettings{} ? usual_timing(kind, size, shape)
                                   : settled_timing(kind, size, shape);
}

// Over perturbed links a collective takes as much longer as the form says.
CostModel::Timing CostModel::impaired_timing(CollectiveKind kind, Bytes size,
                                             const GroupShape& shape) const
{
    GroupShape sound = shape;
    sound.health = {};
    const auto lines_of = [&](const GroupShape& of) {
        return nccl_.lines(kind, of, {&fabric_, &network_, &profile_.hardware.collectives});
    };
    const std::vector<TimeLine> usual = lines_of(sound);
    const std::vector<TimeLine> impaired = lines_of(shape);
    const TimeLine& line = lowest(impaired, size);
    Timing timing = nccl_timing(kind, size, sound);
    timing.latency += lowest(impaired, Bytes(0)).alpha - lowest(usual, Bytes(0)).alpha;
    timing.total *= std::max(1.0, line.at(size) / lowest(usual, size).at(size));
    timing.algorithm = line.algorithm;
    return timing;
}

double CostModel::in_situ(CollectiveKind kind, const GroupShape& shape) const
{
    const bool all_to_all = kind == CollectiveKind::all_to_all;
    const FabricClass& fabric = profile_.hardware.fabric;
    const NetworkClass& network = profile_.hardware.network;
    if (shape.domains > 1)
        return all_to_all ? network.in_situ_all_to_all : network.in_situ;
    return all_to_all ? fabric.in_situ_all_to_all : fabric.in_situ;
}

LibraryLinks CostModel::links_of(const GroupShape& shape) const
{
    const Hardware& hardware = profile_.hardware;
    Bandwidth across = shape.nic_rate_per_gpu();
    if (!(across.value() > 0))
        across = hardware.network.line_rate;
    if (shape.pcie.value() > 0)
        across = std::min(across, shape.pcie);
    return {domain_rate(shape, hardware.fabric), shape.health.across * across,
            hardware.device.hbm_bandwidth};
}

// What longer links add to a collective in about log2(ranks) rounds.
Seconds CostModel::later_by_links(CollectiveKind kind, const GroupShape& shape)
{
    const double rounds = kind == CollectiveKind::send_receive
                              ? 1.0
                              : std::max(1.0, std::ceil(std::log2(shape.ranks)));
    return rounds * (shape.domains > 1 ? shape.health.across_latency : shape.health.inside_latency);
}

LibraryTime CostModel::library_time(CollectiveKind kind, Bytes size, const GroupShape& shape,
                                    Backend backend) const
{
    const Hardware& hardware = profile_.hardware;
    switch (backend) {
    case Backend::gloo:
        return gloo_time(kind, size, shape, hardware.gloo);
    case Backend::mpi:
        return mpi_time(kind, size, shape, hardware.mpi, links_of(shape).across);
    case Backend::nvshmem:
        return nvshmem_time(kind, size, shape, hardware.nvshmem, links_of(shape));
    case Backend::ucx:
    case Backend::nccl: // its form is of lines
        break;
    }
    return ucx_time(kind, size, shape, hardware.ucx, links_of(shape));
}

// Over perturbed links a measured time grows as the form does.
CostModel::Timing CostModel::library_timing(CollectiveKind kind, Bytes size,
                                            const GroupShape& shape, Backend backend) const
{
    const auto form_over = [&](const GroupShape& over) {
        return [this, kind, backend, over](Bytes at) {
            return library_time(kind, at, over, backend).total;
        };
    };
    const LibraryTime time = library_time(kind, size, shape, backend);
    Timing out{time.latency, time.total,
               backend == Backend::nvshmem ? &algorithms::direct : &algorithms::ring};
    GroupShape sound = shape;
    sound.health = {};
    if (shape == sound) {
        out = by_sweeps(out, kind, size, shape, backend, form_over);
    } else if (knots_for(kind, sound, backend) != nullptr) {
        out = by_sweeps(out, kind, size, sound, backend, form_over);
        out.total *= std::max(1.0, time.total / library_time(kind, size, sound, backend).total);
    }
    const Seconds more = later_by_links(kind, shape);
    out.latency += more;
    out.total += more;
    return out;
}

CostModel::Timing CostModel::form_timing(CollectiveKind kind, Bytes size, const GroupShape& shape,
                                         Backend backend, const FabricClass& fabric,
                                         const NetworkClass& network) const
{
    if (backend != Backend::nccl) {
        const LibraryTime time = library_time(kind, size, shape, backend);
        return {time.latency, time.total, &algorithms::ring};
    }
    const auto lines =
        nccl_.lines(kind, shape, {&fabric, &network, &profile_.hardware.collectives});
    const TimeLine& line = lowest(lines, size);
    return {lowest(lines, Bytes(0)).alpha, line.at(size), line.algorithm};
}

CostModel::Timing CostModel::on_other_links(Timing timing, CollectiveKind kind, Bytes size,
                                            const GroupShape& shape, Backend backend) const
{
    const auto moving = [](const Timing& t) { return t.total - t.latency; };
    const Seconds before = moving(form_timing(kind, size, shape, backend, fabric_, network_));
    const Seconds after = moving(
        form_timing(kind, size, scaled(shape, links_), backend, other_fabric_, other_network_));
    if (before.value() > 0 && timing.total > timing.latency)
        timing.total = timing.latency + moving(timing) * (after / before);
    return timing;
}

// NCCL inside a step. What a collective does inside one of several domains is what it does where
// there is no other, with as many bytes or more: it never ends sooner. (Sums, gathers and copies:
// the parts of an all-to-all shrink as ranks are added.) Form and sweeps are fitted apart inside
// and across domains, so that they alone do not see to it.
CostModel::Timing CostModel::nccl_timing_in_step(CollectiveKind kind, Bytes size,
                                                 const GroupShape& shape) const
{
    Timing out = nccl_timing(kind, size, shape);
    if (links_ != LinkFactors{})
        out = on_other_links(out, kind, size, shape, Backend::nccl);
    const double slowed = in_situ(kind, shape);
    out.latency *= slowed;
    out.total *= slowed;
    const bool direct = kind == CollectiveKind::all_to_all || kind == CollectiveKind::send_receive;
    if (shape.domains > 1 && shape.ranks_per_domain > 1 && !direct)
        out.total =
            std::max(out.total, nccl_timing_in_step(kind, size, largest_domain(shape)).total);
    return out;
}

// Other libraries on the same machine in the same step lose as much to it as NCCL does; those on
// the host are not on the devices, and Gloo's constants are of whole programs.
CostModel::Timing CostModel::timing(CollectiveKind kind, Bytes size, const GroupShape& shape,
                                    Backend backend) const
{
    if (backend == Backend::nccl)
        return nccl_timing_in_step(kind, size, shape);
    Timing out = library_timing(kind, size, shape, backend);
    if (links_ != LinkFactors{})
        out = on_other_links(out, kind, size, shape, backend);
    const double slowed = on_host(backend) ? 1.0 : in_situ(kind, shape);
    out.latency *= slowed;
    out.total *= slowed;
    return out;
}

} // namespace trainyard
