#include "sim/report/bottleneck.h"

#include "sim/base/units.h"
#include "sim/report/figures.h"
#include "sim/report/kinds.h"
#include "sim/report/targets.h"

#include <fmt/core.h>

#include <algorithm>

namespace trainyard {

namespace {

// Above this share of a transfer's time the NICs are the limit, below it latency and sizes are.
constexpr double mostly_network = 0.5;

// RDMA reaches 80 to 95 % of the line rate in large transfers, a few sockets a fraction of it.
constexpr double far_from_line_rate = 0.5;

// From this oversubscription on a fabric, not its NICs, bounds what crosses it.
constexpr double thin_fabric = 1.5;

// From this ratio of members between domains on, the emptiest sets the pace of the others.
constexpr double much_unevenness = 1.5;

// Links that have lost more of their rate are worth mending before anything else.
constexpr double nearly_sound = 0.9;

double share_of(const Symptoms& symptoms, TimeKind kind)
{
    return symptoms.share[index_of(kind)];
}

double share_of(const Symptoms& symptoms, TimeClass wanted)
{
    double sum = 0;
    for (const TimeKind kind : time_kinds())
        if (class_of(kind) == wanted)
            sum += share_of(symptoms, kind);
    return sum;
}

// Time that is not the model's own compute, by what would have to change.
struct Loss {
    BottleneckClass kind;
    double share;
};

Loss largest_loss(const Symptoms& symptoms)
{
    using enum BottleneckClass;
    const std::array losses{
        Loss{communication, share_of(symptoms, TimeClass::communication)},
        Loss{bubble, share_of(symptoms, TimeKind::bubble)},
        Loss{synchronisation, share_of(symptoms, TimeKind::waiting)},
        Loss{host, share_of(symptoms, TimeKind::host)},
        Loss{data, share_of(symptoms, TimeKind::data)},
        Loss{memory, share_of(symptoms, TimeKind::recompute)},
    };
    return *std::max_element(losses.begin(), losses.end(),
                             [](const Loss& a, const Loss& b) { return a.share < b.share; });
}

std::string_view long_title(GroupKind kind)
{
    switch (kind) {
    case GroupKind::tp:
        return "tensor-parallel";
    case GroupKind::cp:
    case GroupKind::cp_a2a:
    case GroupKind::cp_ring:
        return "context-parallel";
    case GroupKind::ep:
    case GroupKind::etp:
        return "expert-parallel";
    case GroupKind::dp:
    case GroupKind::edp:
    case GroupKind::shard:
    case GroupKind::replicate:
    case GroupKind::twin:
        return "data-parallel";
    case GroupKind::pp:
        return "pipeline";
    case GroupKind::embedding:
        return "embedding-gradient";
    case GroupKind::world:
        break;
    }
    return "global";
}

std::string_view domain_title(const Symptoms& symptoms)
{
    return symptoms.nvlink ? "NVLink domain" : "node";
}

// The way through the host, not a network that has room left, is the limit.
bool held_by_host(const Symptoms& symptoms)
{
    return symptoms.backend == Backend::nccl && symptoms.through_host &&
           symptoms.line_rate_share < far_from_line_rate;
}

// So is PCIe: between a GPU and its NIC, or between the GPUs of a node.
bool held_by_pcie(const Symptoms& symptoms)
{
    return symptoms.backend == Backend::nccl && symptoms.across_domains &&
           symptoms.pcie_holds_back && !held_by_host(symptoms);
}

std::string where_it_runs(const Symptoms& symptoms)
{
    const std::string size = fmt::format("{} {}", to_name(symptoms.group), symptoms.group_ranks);
    if (symptoms.on_cpu)
        return fmt::format("with {} {} ({})", title_of(symptoms.backend),
                           symptoms.across_domains ? "across hosts" : "inside the host", size);
    if (on_host(symptoms.backend))
        return fmt::format("with {}, which goes through the hosts{} ({})",
                           title_of(symptoms.backend),
                           symptoms.across_domains ? " and across nodes" : "", size);
    if (held_by_host(symptoms))
        return fmt::format("through host memory, as devices of a node may not copy to each other "
                           "({})",
                           size);
    if (!symptoms.across_domains)
        return fmt::format("inside the {}{} ({})", domain_title(symptoms),
                           symptoms.nvlink ? "" : ", over PCIe", size);
    if (symptoms.group_ranks > symptoms.domain_ranks)
        return fmt::format("across nodes ({} > {} GPUs of {} {})", size, symptoms.domain_ranks,
                           symptoms.nvlink ? "an" : "a", domain_title(symptoms));
    return fmt::format("across nodes ({})", size);
}

std::string advice_on_transfers(const Symptoms& symptoms)
{
    if (on_host(symptoms.backend) && !symptoms.on_cpu)
        return "NCCL, which moves data from GPU to GPU; else overlap it with compute";
    if (held_by_host(symptoms))
        return "let devices copy to each other (NCCL_P2P_DISABLE, NCCL_P2P_LEVEL); else overlap it "
               "with compute";
    if (symptoms.across_domains && symptoms.group == GroupKind::tp)
        return fmt::format("keep the tensor-parallel group inside the {}", domain_title(symptoms));
    return fmt::format(
        "{}overlap it with compute, use fewer and larger transfers, or a larger batch",
        held_by_pcie(symptoms) ? "PCIe as fast as the NICs; else " : "");
}

std::string_view what_speeds_the_network(const Symptoms& symptoms)
{
    if (symptoms.links_left < nearly_sound)
        return "links that have all of their bandwidth";
    if (symptoms.unevenness >= much_unevenness)
        return "as many ranks of the group in each domain: the one with the fewest, hence the "
               "fewest NICs, sets the pace";
    if (symptoms.line_rate_share >= far_from_line_rate)
        return "more or faster NICs";
    if (symptoms.transport == Transport::tcp)
        return "a transport nearer to the line rate (RDMA, not TCP sockets)";
    if (symptoms.oversubscription >= thin_fabric)
        return "more links above the leaf switches";
    return "fewer and larger transfers";
}

std::string advice_on_network(const Symptoms& symptoms)
{
    const bool thin =
        symptoms.line_rate_share < far_from_line_rate && symptoms.oversubscription >= thin_fabric;
    return fmt::format(
        "{}{}, a larger NVLink domain, or a strategy that sends less",
        what_speeds_the_network(symptoms),
        thin ? fmt::format(" (the fabric is oversubscribed {:.3g}:1)", symptoms.oversubscription)
             : "");
}

// "the NICs carry it at 70.0 % of their line rate"
std::string rate_evidence(const Symptoms& symptoms)
{
    const std::string rate =
        fmt::format("the NICs carry it at {} of", percent(symptoms.line_rate_share));
    return symptoms.links_left < 0.9995 ? fmt::format("{} what is left of their line rate ({})",
                                                      rate, percent(symptoms.links_left))
                                        : rate + " their line rate";
}

Bottleneck of_communication(const Symptoms& symptoms, double share)
{
    const double slowdown = share_of(symptoms, TimeKind::slowdown);
    std::string evidence =
        fmt::format("{} of the step goes to communication, most of it {} {}", percent(share),
                    long_title(symptoms.group), where_it_runs(symptoms));
    if (slowdown > share / 2)
        evidence = fmt::format("{} of the step goes to communication, most of it compute slowed "
                               "down by transfers beside it",
                               percent(share));
    if (symptoms.backend == Backend::nccl && symptoms.across_domains && !held_by_host(symptoms) &&
        symptoms.network_share >= mostly_network)
        return {BottleneckClass::network, fmt::format("{}; {}", evidence, rate_evidence(symptoms)),
                advice_on_network(symptoms)};
    if (held_by_pcie(symptoms))
        evidence += "; PCIe holds the transfers back, the NICs could carry more";
    return {BottleneckClass::communication, evidence, advice_on_transfers(symptoms)};
}

Bottleneck of_imbalance(const Symptoms& symptoms, double share)
{
    return {BottleneckClass::imbalance,
            fmt::format("{} of the step is idle, and {} computes for {} of the step longer than "
                        "the mean",
                        percent(share), symptoms.busiest, percent(symptoms.imbalance)),
            "move layers away from the busiest stage, or replace the slow device"};
}

Bottleneck of_bubble(const Symptoms& symptoms, double share)
{
    return {BottleneckClass::bubble,
            fmt::format("{} of the step is pipeline bubble ({} stages, {} micro-batches)",
                        percent(share), symptoms.stages, symptoms.micro_batches),
            "more micro-batches, virtual stages, or fewer pipeline stages"};
}

Bottleneck of_memory_saving(const Symptoms& symptoms, double share)
{
    const double free = 1 - symptoms.needed / symptoms.capacity;
    return {BottleneckClass::memory,
            fmt::format("{} of the step recomputes activations to save memory; {} of it is free",
                        percent(share), percent(std::max(free, 0.0))),
            "recompute less where that fits, spread the model wider, or a device with more memory"};
}

Bottleneck of_too_much_memory(const Symptoms& symptoms)
{
    return {BottleneckClass::memory,
            fmt::format("stage {} needs {} more than the {} of a device", symptoms.fullest_stage,
                        to_display(symptoms.needed - symptoms.capacity),
                        to_display(symptoms.capacity)),
            "more tensor or pipeline parallelism, a higher ZeRO stage, recomputation, or a smaller "
            "micro-batch"};
}

Bottleneck of_compute(const Symptoms& symptoms, const Loss& loss)
{
    std::string evidence =
        fmt::format("{} of the step computes, at an MFU of {}",
                    percent(share_of(symptoms, TimeClass::compute)), percent(symptoms.mfu));
    if (loss.share >= good_overhead)
        evidence +=
            fmt::format("; the largest loss is {} with {}",
                        loss.kind == BottleneckClass::memory ? "recomputation" : to_name(loss.kind),
                        percent(loss.share));
    return {BottleneckClass::compute, evidence,
            "faster devices, a lower precision, or kernels nearer to the peak"};
}

Bottleneck of_idleness(const Symptoms& symptoms, const Loss& loss)
{
    if (symptoms.imbalance >= loss.share / 2)
        return of_imbalance(symptoms, loss.share);
    if (loss.kind == BottleneckClass::bubble)
        return of_bubble(symptoms, loss.share);
    return {loss.kind,
            fmt::format("{} of the step ranks wait in collectives for the last one to arrive",
                        percent(loss.share)),
            "find what delays the last rank: jitter, a late loader, uneven work"};
}

Bottleneck of_data(const Symptoms& symptoms, double share)
{
    if (symptoms.offloads && !symptoms.loading)
        return {
            BottleneckClass::data,
            fmt::format("{} of the step waits for copies between device and host", percent(share)),
            "offload less, recompute instead, or a device with a quicker link to its host"};
    const std::string waits = fmt::format("{} of the step waits for input data", percent(share));
    if (!symptoms.loading)
        return {BottleneckClass::data, waits,
                "more loader workers, prefetch, or a smaller decode per sample"};
    return {BottleneckClass::data,
            fmt::format("{}: {}", waits, loading_evidence(*symptoms.loading)),
            loading_advice(*symptoms.loading)};
}

Bottleneck of_host(const Symptoms& symptoms, double share)
{
    if (symptoms.host_updates > 0 && symptoms.host_updates >= share / 2)
        return {BottleneckClass::host,
                fmt::format("{} of the step the device waits for the host, which updates "
                            "parameters {} of the step",
                            percent(share), percent(symptoms.host_updates)),
                "the optimizer on the device, more sequences a step, or more hosts"};
    if (symptoms.host_once >= share / 2)
        return {BottleneckClass::host,
                fmt::format("{} of the step the device waits for the host, which takes {} of it "
                            "for what it does once a step (its overhead, the optimizer's "
                            "bookkeeping)",
                            percent(share), percent(symptoms.host_once)),
                "more sequences a step: what is done once weighs less"};
    return {BottleneckClass::host,
            fmt::format("{} of the step the device waits for the host to launch kernels",
                        percent(share)),
            "CUDA graphs, fused kernels, or a larger micro-batch"};
}

Bottleneck of_loss(const Symptoms& symptoms, const Loss& loss)
{
    switch (loss.kind) {
    case BottleneckClass::communication:
        return of_communication(symptoms, loss.share);
    case BottleneckClass::bubble:
    case BottleneckClass::synchronisation:
        return of_idleness(symptoms, loss);
    case BottleneckClass::memory:
        return of_memory_saving(symptoms, loss.share);
    case BottleneckClass::host:
        return of_host(symptoms, loss.share);
    default:
        return of_data(symptoms, loss.share);
    }
}

// A slow device is worth naming whatever else holds the step back.
Bottleneck naming_the_slow(Bottleneck found, const Symptoms& symptoms)
{
    const SlowDevice& slow = *symptoms.slow;
    const bool several = slow.others > 0;
    found.evidence += fmt::format("; device {}{} {:.2f} times slower than the fastest", slow.device,
                                  several ? fmt::format(" and {} more run up to", slow.others)
                                          : std::string(" runs"),
                                  slow.slowdown);
    if (slow.sets_the_pace)
        found.evidence += several ? " and set the pace" : " and sets the pace";
    found.evidence +=
        fmt::format(": it computes {} of the step longer, and others wait {} of it in collectives",
                    percent(slow.longer), percent(slow.waited));
    if (const double bubble = share_of(symptoms, TimeKind::bubble); bubble >= good_overhead)
        found.evidence += fmt::format(
            "; stages wait {} for each other, the pipeline's own bubble included", percent(bubble));
    found.advice = fmt::format("mend or replace device {}; {}", slow.device, found.advice);
    return found;
}

} // namespace

Bottleneck find_bottleneck(const Symptoms& symptoms)
{
    if (symptoms.needed > symptoms.capacity)
        return of_too_much_memory(symptoms);
    const Loss loss = largest_loss(symptoms);
    const Bottleneck found =
        loss.share < bad_overhead ? of_compute(symptoms, loss) : of_loss(symptoms, loss);
    return symptoms.slow ? naming_the_slow(found, symptoms) : found;
}

Bottleneck naming_the_answer(Bottleneck found, const std::string& setting, double gain)
{
    if (found.kind == BottleneckClass::memory)
        found.advice =
            fmt::format("recompute less: {} fits and saves {} of the step", setting, percent(gain));
    return found;
}

Bottleneck naming_the_perturbation(Bottleneck found, const std::string& perturbation, double cost)
{
    found.evidence =
        fmt::format("{} of the step is due to {}; {}", percent(cost), perturbation, found.evidence);
    found.advice = fmt::format("put an end to that; then {}", found.advice);
    return found;
}

} // namespace trainyard
