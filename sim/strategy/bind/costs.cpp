#include "sim/strategy/bind/costs.h"

#include "sim/cost/algorithms/algorithm.h"

#include <algorithm>
#include <cmath>
#include <set>

namespace trainyard {

namespace {

Seconds compute_time(const ComputeRequest& request, const CostModel& cost)
{
    if (request.host_time.value() > 0)
        return request.host_time;
    if (request.host_copy.value() > 0)
        return cost.copy(request.host_copy, request.route, request.both_ways);
    if (request.host_bytes.value() > 0)
        return cost.host_pass(request.host_bytes);
    const Seconds forward = cost.kernel_time(request.kernels);
    return request.phase == Phase::recompute ? forward * cost.profile().software.recompute_factor
                                             : forward;
}

// Where the host waits for each kernel before it issues the next, the device waits for the host
// between the kernels of an op.
Seconds waits_between_kernels(const ComputeRequest& request, const CostModel& cost, const Job& job)
{
    if (!job.launches.blocking)
        return Seconds(0);
    int launches = 0;
    for (const WorkItem& item : request.kernels)
        if (const auto* kernel = std::get_if<Kernel>(&item))
            launches += kernel->launches;
    return cost.host_per_kernel(request.phase, job.cuda_graphs) * std::max(0, launches - 1);
}

std::uint32_t share_of_full(double share)
{
    return static_cast<std::uint32_t>(std::lround(std::clamp(share, 0.0, 1.0) * full_share));
}

// Launches that a stream of a CUDA device holds before the next one blocks its host: about a
// thousand, of each stream its own, as timed in "CUDA stream is blocked when launching many
// kernels" (stackoverflow.com/questions/53970187); 1,024 is what developers give. A graph of
// kernels is one launch. A CPU has no queue, and a host that waits for each kernel needs none.
std::uint32_t launch_queue(const CostModel& cost, const Job& job)
{
    constexpr std::uint32_t cuda_stream = 1024;
    if (cost.profile().hardware.device.is_cpu() || job.launches.blocking)
        return 0;
    return job.cuda_graphs ? endless_queue : cuda_stream;
}

// Which requests are asked of each slot's groups; pairs come last.
std::vector<std::set<CostId>> requests_by_slot(const Program& program)
{
    std::vector<std::set<CostId>> used(program.groups.size() + 1);
    for (const Block& block : program.blocks) {
        for (const Op& op : block.ops)
            if (op.kind == OpKind::collective)
                used[op.group.value].insert(op.cost);
        for (const ExchangePart& part : block.parts)
            used.back().insert(part.cost);
    }
    return used;
}

TrafficPattern pattern_of(CollectiveKind kind, const Algorithm* algorithm)
{
    if (kind == CollectiveKind::all_to_all)
        return TrafficPattern::all_to_all;
    if (kind == CollectiveKind::send_receive)
        return TrafficPattern::neighbours;
    const bool sums = kind == CollectiveKind::all_reduce && algorithm != nullptr;
    return sums ? algorithm->pattern : TrafficPattern::ring;
}

class TransferCosts {
public:
    TransferCosts(const Plan& plan, const Neighbourhood& neighbourhood, const CostModel& cost)
        : plan_(plan),
          shapes_(neighbourhood.shapes),
          cost_(cost),
          used_(requests_by_slot(plan.program)),
          table_(shapes_.size(), std::vector<TransferCost>(plan.transfers.size()))
    {
        std::set<std::pair<std::uint32_t, std::size_t>> wanted; // shape, slot
        for (const RankGroup& group : neighbourhood.groups)
            wanted.emplace(group.shape, group.slot);
        for (const std::vector<RankPeer>& peers : neighbourhood.peers)
            for (const RankPeer& peer : peers)
                wanted.emplace(peer.shape, used_.size() - 1);
        for (const auto& [shape, slot] : wanted)
            for (const CostId id : used_[slot])
                fill(shape, id);
    }
    std::vector<std::vector<TransferCost>> take() && { return std::move(table_); }

private:
    void fill(std::uint32_t shape, CostId id)
    {
        const TransferRequest& request = plan_.transfers[id.value];
        const GroupShape& group = shapes_[shape];
        const TransferTime time =
            request.kind == CollectiveKind::send_receive
                ? cost_.send_receive(request.bytes, group, request.backend)
                : cost_.collective(request.kind, request.bytes, group, request.backend);
        table_[shape][id.value] = transfer_cost(time, request);
    }

    const Plan& plan_;
    const std::vector<GroupShape>& shapes_;
    const CostModel& cost_;
    std::vector<std::set<CostId>> used_;
    std::vector<std::vector<TransferCost>> table_;
};

} // namespace

TransferCost transfer_cost(const TransferTime& time, const TransferRequest& request)
{
    const double share = request.share;
    const SimTime total = to_sim_time(time.total * share);
    TransferCost out;
    out.latency = std::min(to_sim_time(time.latency * share), total);
    const SimTime moving = total - out.latency;
    if (moving > SimTime(0)) {
        const double rate = time.wire_bytes * share / to_seconds(moving).value();
        out.ceiling = ByteRate(static_cast<std::uint64_t>(std::max(rate, 1.0)));
        out.work = work_done(out.ceiling, moving);
    }
    if (request.interference != Interference::none)
        out.sm_share = share_of_full(time.sm_share);
    if (request.interference == Interference::full)
        out.traffic_share = share_of_full(time.traffic_share);
    out.pattern = pattern_of(request.kind, time.algorithm);
    out.bytes = scaled(request.bytes, std::min(share, 1.0)); // slower than alone moves no more
    return out;
}

CostTable bind_costs(const Plan& plan, const Neighbourhood& neighbourhood, const CostModel& cost,
                     const Job& job)
{
    CostTable table;
    for (const ComputeRequest& request : plan.compute)
        table.compute.push_back(
            to_sim_time(compute_time(request, cost) + waits_between_kernels(request, cost, job)));
    table.transfers = TransferCosts(plan, neighbourhood, cost).take();
    for (std::size_t phase = 0; phase < phase_count; ++phase)
        table.host_per_kernel[phase] =
            to_sim_time(cost.host_per_kernel(static_cast<Phase>(phase), job.cuda_graphs));
    table.launch_queue = launch_queue(cost, job);
    return table;
}

} // namespace trainyard
