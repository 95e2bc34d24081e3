#include "sim/cost/cost_model.h"

#include "sim/cost/algorithms/algorithm.h"
#include "sim/cost/kernel_time.h"

#include <algorithm>
#include <cmath>

namespace trainyard {
namespace {

// Bytes leaving a member's NVLink domain (a member's share of what its domain sends), per byte of
// the buffer.
double crossing_factor(CollectiveKind kind, const GroupShape& shape, const Algorithm& algorithm)
{
    if (shape.domains <= 1)
        return 0;
    const double n = shape.ranks;
    const double r = shape.ranks_per_domain;
    const bool once = algorithm.sums == Sums::in_network ||
                      (shape.domains == 2 && algorithm.pattern != TrafficPattern::ring);
    switch (kind) {
    case CollectiveKind::all_reduce:
    case CollectiveKind::barrier:
        return (once ? 1 : 2 * (n - 1) / n) / r;
    case CollectiveKind::all_gather:
    case CollectiveKind::reduce_scatter:
        return (n - 1) / n / r;
    case CollectiveKind::all_to_all:
        return (n - r) / n;
    case CollectiveKind::broadcast:
    case CollectiveKind::reduce:
    case CollectiveKind::send_receive:
        break;
    }
    return 1 / r;
}

// Bytes leaving a member over its fastest way out, per byte of the buffer.
double wire_factor(CollectiveKind kind, const GroupShape& shape, const Algorithm& algorithm)
{
    if (shape.ranks_per_domain <= 1)
        return crossing_factor(kind, shape, algorithm);
    if (algorithm.sums == Sums::in_nvswitches)
        return 1 + 1.0 / shape.ranks_per_domain;
    return bus_factor(kind, shape.ranks);
}

} // namespace

CostModel::CostModel(Profile profile, NcclSettings nccl, LinkFactors links)
    : profile_(std::move(profile)),
      kernels_(profile_.hardware.kernels.on(profile_.hardware.device)),
      nccl_(std::move(nccl)),
      links_(links),
      fabric_(nccl_.fabric(profile_.hardware.fabric)),
      network_(nccl_.network(profile_.hardware.network)),
      other_fabric_(scaled(fabric_, links_)),
      other_network_(scaled(network_, links_))
{}

ComputeContext CostModel::compute_context() const
{
    return {&profile_.hardware.device, &kernels_, &profile_.software, profile_.installation.factor};
}

Seconds CostModel::kernel_time(const Kernel& kernel) const
{
    return launch_gaps(kernel, profile_.hardware.device) + device_time(kernel, compute_context());
}

Seconds CostModel::kernel_time(const WorkList& kernels) const
{
    Seconds total(0);
    for (const WorkItem& item : kernels)
        if (const Kernel* kernel = std::get_if<Kernel>(&item))
            total += kernel_time(*kernel);
    return total;
}

Seconds CostModel::host_per_kernel(Phase phase, bool cuda_graphs) const
{
    const SoftwareClass& software = profile_.software;
    const Seconds eager = phase == Phase::backward ? software.host_per_kernel_backward
                                                   : software.host_per_kernel_forward;
    return cuda_graphs ? eager * software.cuda_graph_factor : eager;
}

// NCCL opens channels with the size: one per 128 KiB of a rank's part, up to its maximum. A message
// takes two channels (NCCL's default per peer of another node). Kernels on symmetric memory grow
// alike. UCX and Gloo move data by copy engines, NICs and CPUs.
double CostModel::sm_share(CollectiveKind kind, Bytes size, const GroupShape& shape,
                           const Algorithm& algorithm, Backend backend) const
{
    if (on_host(backend) || backend == Backend::ucx)
        return 0;
    constexpr int of_message = 2;
    const Hardware& hardware = profile_.hardware;
    const int most = kind == CollectiveKind::send_receive    ? of_message
                     : backend == Backend::nvshmem           ? hardware.nvshmem.sms_held
                     : algorithm.sums == Sums::in_nvswitches ? fabric_.sms_held_nvls
                                                             : fabric_.sms_held;
    const double wanted =
        std::ceil(static_cast<double>(size.value()) / shape.ranks / (128.0 * 1024));
    const double held = std::min<double>(most, std::max(1.0, wanted));
    return held / hardware.device.sms * hardware.device.sm_loss;
}

TransferTime CostModel::collective(CollectiveKind kind, Bytes size, const GroupShape& shape,
                                   Backend backend) const
{
    const bool barrier = kind == CollectiveKind::barrier;
    if (shape.ranks <= 1 || (size == Bytes(0) && !barrier))
        return {};
    const Bytes moved = barrier ? Bytes(0) : size;
    const Timing timing = this->timing(kind, moved, shape, backend);
    TransferTime out;
    out.latency = timing.latency;
    out.total = barrier ? timing.latency : std::max(timing.total, timing.latency);
    out.algorithm = timing.algorithm;
    const Algorithm& algorithm = *timing.algorithm;
    const double bytes = static_cast<double>(moved.value());
    out.wire_bytes = bytes * wire_factor(kind, shape, algorithm);
    out.nic_bytes = bytes * crossing_factor(kind, shape, algorithm);
    const Bandwidth share = shape.health.across * scaled(shape, links_).fabric_share;
    if (share.value() > 0 && !is_pairwise(kind))
        out.total = std::max(out.total, out.latency + Seconds(out.nic_bytes / share.value()));
    const BackendInterference& measured = profile_.hardware.interference.of(backend);
    if (measured.measured()) {
        out.sm_share = measured.compute_waiting.value_or(0);
        out.traffic_share = measured.lost_to_full_rate();
        return out;
    }
    if (on_host(backend))
        return out;
    out.sm_share = sm_share(kind, moved, shape, algorithm, backend);
    const double moving = (out.total - out.latency).value();
    // The device's way in the data sheet, or here if that is faster.
    const Bandwidth nvlink =
        std::max(profile_.hardware.device.nvlink, shape.nvlink) * links_.nvlink;
    const Bandwidth fastest =
        nvlink.value() > 0 ? nvlink : domain_rate(scaled(shape, links_), profile_.hardware.fabric);
    if (moving > 0 && fastest.value() > 0)
        out.traffic_share = std::min(1.0, profile_.software.overlap_slowdown * out.wire_bytes /
                                              moving / fastest.value());
    return out;
}

TransferTime CostModel::send_receive(Bytes size, const GroupShape& pair, Backend backend) const
{
    GroupShape two = pair;
    two.ranks = std::min(pair.ranks, 2);
    two.ranks_per_domain = pair.domains > 1 ? 1 : two.ranks;
    two.fewest_per_domain = two.ranks_per_domain;
    return collective(CollectiveKind::send_receive, size, two, backend);
}

Seconds CostModel::host_copy(Bytes size) const
{
    const Device& device = profile_.hardware.device;
    if (size == Bytes(0) || !(device.host_copy.value() > 0))
        return Seconds(0);
    return device.host_copy_latency + size / device.host_copy;
}

Seconds CostModel::copy(Bytes size, CopyRoute route, bool both_ways) const
{
    const Device& device = profile_.hardware.device;
    Bandwidth rate = route == CopyRoute::peer ? device.peer_copy : device.host_copy;
    if (route == CopyRoute::host && both_ways && device.host_copy_both.value() > 0)
        rate = device.host_copy_both;
    if (size == Bytes(0) || !(rate.value() > 0))
        return Seconds(0);
    return device.host_copy_latency + size / rate;
}

Seconds CostModel::host_pass(Bytes bytes) const
{
    const Bandwidth rate = profile_.hardware.device.host_memory;
    return rate.value() > 0 ? bytes / rate : Seconds(0);
}

} // namespace trainyard
