// What the rules of the bottleneck look at, measured on an outcome.

#include "sim/report/bottleneck.h"
#include "sim/report/collectives.h"
#include "sim/report/kinds.h"
#include "sim/report/links_left.h"
#include "sim/report/traffic.h"
#include "sim/strategy/rank_layout.h"
#include "sim/topology/used_devices.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <functional>
#include <map>

namespace trainyard {

namespace {

// Links that save less of a transfer when twice as fast do not hold it back.
constexpr double hold_back = 0.05;

// Transfers that share links and take longer than so many times what they take alone are slowed by
// that.
constexpr double as_if_alone = 1.1;

// The kind of transfer whose exposed time weighs most, in the group that weighs most.
const TransferTotals* heaviest_transfer(const std::vector<TransferTotals>& transfers)
{
    std::map<GroupKind, double> by_group;
    for (const TransferTotals& totals : transfers)
        by_group[totals.group] += totals.exposed_seconds;
    const auto weight = [&](const TransferTotals& totals) {
        return std::pair(by_group[totals.group], totals.exposed_seconds);
    };
    const auto heaviest = std::max_element(
        transfers.begin(), transfers.end(),
        [&](const TransferTotals& a, const TransferTotals& b) { return weight(a) < weight(b); });
    return heaviest == transfers.end() ? nullptr : &*heaviest;
}

// One such transfer in the first group of that kind.
struct Representative {
    Seconds latency;
    Seconds total;
    double nics_save = 0;  // of its time, were NICs and switches twice as fast
    double pcie_saves = 0; // likewise
    double unevenness = 1; // members in the fullest domain per member in the emptiest
};
Representative first_of(const Outcome& outcome, const CollectiveRow& row)
{
    const Backend backend = outcome.job.strategy.backend;
    const bool message = row.collective == CollectiveKind::send_receive;
    const auto time_with = [&](const CostModel& cost, const GroupShape& shape) {
        return message ? cost.send_receive(row.mean_size, shape, backend)
                       : cost.collective(row.collective, row.mean_size, shape, backend);
    };
    const RankLayout layout(outcome.job);
    for (const Lane& lane : outcome.binding->lanes) {
        std::vector<DeviceId> devices;
        for (const RankId rank : layout.members(row.group, lane.rank))
            devices.push_back(DeviceId{rank.value});
        if (devices.size() < 2)
            continue;
        const std::span members(devices.data(), message ? 2 : devices.size());
        const GroupShape shape = group_shape(*outcome.topology, members);
        const TransferTime time = time_with(*outcome.cost, shape);
        const auto saves = [&](const LinkFactors& links) {
            const CostModel faster(outcome.cost->profile(), outcome.cost->nccl_settings(), links);
            return time.total.value() > 0 ? 1 - time_with(faster, shape).total / time.total : 0.0;
        };
        Representative out{time.latency, time.total, saves({.network = 2}), saves({.pcie = 2})};
        if (!message)
            out.unevenness = 1.0 * shape.ranks_per_domain / shape.crossing_ranks();
        return out;
    }
    return {};
}

// Where that group's bytes go, and what its time is spent on.
void add_heaviest_group(Symptoms& symptoms, const Outcome& outcome,
                        std::span<const CollectiveRow> collectives,
                        std::span<const TransferTraffic> traffic)
{
    const TransferTotals* heaviest = heaviest_transfer(outcome.result->transfers);
    if (heaviest == nullptr || heaviest->transfer_seconds <= 0)
        return;
    symptoms.group = heaviest->group;
    const TrafficSplit split = bytes_per_payload(traffic, heaviest->collective, heaviest->group);
    symptoms.across_domains = split.outside > 0;
    for (const CollectiveRow& row : collectives) {
        if (row.group != heaviest->group || row.collective != heaviest->collective)
            continue;
        symptoms.group_ranks = row.ranks;
        const Representative first = first_of(outcome, row);
        const double outside = split.outside * first.unevenness; // where the NICs are fewest
        const double left = share_left_between_domains(outcome, row.collective, row.group);
        const double nic = left * nic_rate_per_gpu(outcome).value();
        const DeviceAttachment device = outcome.topology->device(DeviceId{0});
        const double inside = std::max(device.nvlink, device.pcie).value();
        if (nic <= 0)
            continue;
        // PCIe between GPU and NIC, or the library itself, may be slower than a NIC's line rate.
        // The closed form knows, unless transfers slow each other.
        const bool alone = !shares_links(outcome.engine.network.fidelity) ||
                           row.mean_time < as_if_alone * first.total;
        if (outside / nic < (inside > 0 ? split.inside / inside : 0) ||
            (alone && first.nics_save < hold_back))
        {
            symptoms.pcie_holds_back = alone && first.pcie_saves >= hold_back;
            continue;
        }
        symptoms.links_left = left;
        symptoms.network_share = std::max(0.0, 1 - first.latency / row.mean_time);
        symptoms.unevenness = first.unevenness;
        symptoms.line_rate_share = row.algorithm_bandwidth.value() * outside / nic;
    }
}

SimTime compute_of(const LaneTotals& lane)
{
    SimTime sum{};
    for (const TimeKind kind : time_kinds())
        if (class_of(kind) == TimeClass::compute)
            sum += lane.time[index_of(kind)];
    return sum;
}

void add_imbalance(Symptoms& symptoms, const Outcome& outcome)
{
    const std::vector<LaneTotals>& lanes = outcome.result->lanes;
    const auto busiest =
        std::max_element(lanes.begin(), lanes.end(), [](const LaneTotals& a, const LaneTotals& b) {
            return compute_of(a) < compute_of(b);
        });
    const Seconds step = to_seconds(outcome.result->step_time);
    if (busiest == lanes.end() || step.value() <= 0)
        return;
    const Seconds mean = mean_over_ranks(*outcome.result, *outcome.binding, compute_of);
    symptoms.imbalance = (to_seconds(compute_of(*busiest)) - mean) / step;
    const Lane& lane = outcome.binding->lanes[static_cast<std::size_t>(busiest - lanes.begin())];
    const bool is_slow =
        symptoms.slow && static_cast<int>(lane.rank.value) == symptoms.slow->device;
    symptoms.busiest = outcome.plan->program.roles.size() > 1 && !is_slow
                           ? fmt::format("stage {}", lane.role.value)
                           : fmt::format("rank {}", lane.rank.value);
}

// Of 2^20; 1.08 slower is 1.08 x 2^20.
std::uint32_t slowdown_of(const Lane& lane)
{
    return lane.scales.empty() ? 1U << 20
                               : *std::max_element(lane.scales.begin(), lane.scales.end());
}

// What a device is held against: the fastest, but none faster than its profile says. Where one is,
// the others are not slow.
std::uint32_t usual_slowdown(const std::vector<Lane>& lanes)
{
    return std::max(1U << 20, slowdown_of(*std::ranges::min_element(lanes, {}, slowdown_of)));
}

void add_slow_device(Symptoms& symptoms, const Outcome& outcome)
{
    const std::vector<Lane>& lanes = outcome.binding->lanes;
    const double step = to_seconds(outcome.result->step_time).value();
    if (lanes.empty() || step <= 0)
        return;
    const std::uint32_t usual = usual_slowdown(lanes);
    // Of several the first, as users number them.
    const auto first = std::ranges::max_element(lanes, {}, slowdown_of);
    const std::uint32_t slowest = slowdown_of(*first);
    if (slowest <= usual)
        return;
    const LaneId critical = outcome.result->critical_lane;
    SlowDevice slow{.device = static_cast<int>(first->rank.value),
                    .slowdown = static_cast<double>(slowest) / usual,
                    .sets_the_pace =
                        critical.valid() && slowdown_of(lanes[critical.value]) == slowest};
    const SimTime computes =
        compute_of(outcome.result->lanes[static_cast<std::size_t>(first - lanes.begin())]);
    slow.longer = to_seconds(computes).value() * (1 - 1 / slow.slowdown) / step;
    const auto is_slow = [&](const Lane& lane) { return slowdown_of(lane) > usual; };
    for (const Lane& lane : lanes)
        slow.others += is_slow(lane) ? static_cast<int>(lane.multiplicity) : 0;
    slow.others -= 1;
    slow.waited = mean_over_ranks(
                      *outcome.result, *outcome.binding,
                      [](const LaneTotals& lane) { return lane.time[index_of(TimeKind::waiting)]; },
                      std::not_fn(is_slow)) /
                  Seconds(step);
    symptoms.slow = slow;
}

// Longest of all stages.
Seconds host_updates(const Outcome& outcome)
{
    const Plan& plan = *outcome.plan;
    Seconds longest(0);
    for (const Role& role : plan.program.roles) {
        Seconds sum(0);
        for (const BlockUse& use : role.order)
            for (const Op& op : plan.program.blocks[use.block.value].ops)
                if (op.kind == OpKind::host && op.cost.valid())
                    sum += outcome.cost->host_pass(plan.compute[op.cost.value].host_bytes);
        longest = std::max(longest, sum);
    }
    return longest;
}

} // namespace

Symptoms symptoms_of(const Outcome& outcome)
{
    return symptoms_of(outcome, collective_rows(outcome), traffic_of(outcome));
}

Symptoms symptoms_of(const Outcome& outcome, std::span<const CollectiveRow> collectives,
                     std::span<const TransferTraffic> traffic)
{
    Symptoms symptoms;
    symptoms.offloads = outcome.job.strategy.offload != OffloadOptions{};
    const Seconds step = to_seconds(outcome.result->step_time);
    const TimeShares mean = mean_shares(*outcome.result, *outcome.binding);
    for (std::size_t i = 0; i < time_kind_count; ++i)
        symptoms.share[i] = step.value() > 0 ? mean[i] / step : 0.0;
    if (symptoms.offloads && step.value() > 0)
        symptoms.host_updates = host_updates(outcome) / step;
    const SoftwareClass& software = outcome.job.software;
    if (step.value() > 0)
        symptoms.host_once = (software.step_overhead + software.optimizer_time) / step;
    symptoms.needed = outcome.memory.peak();
    symptoms.capacity = outcome.memory.capacity;
    symptoms.fullest_stage = outcome.memory.fullest_stage;
    symptoms.backend = outcome.job.strategy.backend;
    symptoms.on_cpu = outcome.cost->profile().hardware.device.is_cpu();
    symptoms.through_host = nccl_settings(outcome).host_path.has_value();
    symptoms.nvlink = outcome.topology->device(DeviceId{0}).nvlink.value() > 0;
    symptoms.domain_ranks = largest_domain(*outcome.topology);
    symptoms.micro_batches = outcome.job.micro_batches();
    symptoms.stages = outcome.job.strategy.pp;
    const NodeNetwork network = outcome.topology->network(NodeId{0});
    symptoms.transport = network.transport;
    symptoms.oversubscription = network.oversubscription;
    symptoms.loading = loading_of(outcome);
    add_heaviest_group(symptoms, outcome, collectives, traffic);
    add_slow_device(symptoms, outcome);
    add_imbalance(symptoms, outcome);
    return symptoms;
}

} // namespace trainyard
