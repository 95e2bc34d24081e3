#include "sim/traces/scaled_step.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>

namespace trainyard {
namespace {

bool is_data_parallel(GroupKind role)
{
    return role == GroupKind::dp || role == GroupKind::edp || role == GroupKind::replicate ||
           role == GroupKind::world;
}

class Scaling {
public:
    Scaling(const JobTrace& job, int times, const Topology& topology, const CostModel& cost)
        : job_(job), times_(times), topology_(topology), cost_(cost)
    {}

    // Nothing where the transfer's group does not grow, or what it is for, its kind or its size is
    // unknown.
    std::optional<double> operator()(const TraceTransfer& transfer, double recorded,
                                     MovingFrom known)
    {
        const std::optional<GroupKind> role = job_.role_of(transfer);
        if (transfer.ranks == 1 || (role && !is_data_parallel(*role)))
            return std::nullopt;
        if (!role || transfer.ranks == 0 || !transfer.kind ||
            transfer.kind == CollectiveKind::send_receive || transfer.bytes == 0)
        {
            ++unchanged;
            return std::nullopt;
        }
        const BothTimes& expected = expected_of(transfer);
        const bool may_wait = known == MovingFrom::quickest || known == MovingFrom::own_start;
        const double moving = may_wait ? std::min(expected.before, recorded) : recorded;
        const double slower = moving / expected.before;
        const double growth = expected.apart ? std::max(1.0, slower) : slower;
        const double scaled = recorded - moving + std::max(expected.after * growth, moving);
        note({*transfer.kind, *role, transfer.bytes, transfer.ranks, transfer.ranks * times_,
              Seconds(recorded), Seconds(scaled), Seconds(expected.before), may_wait});
        return scaled;
    }

    std::vector<ScaledTransfer> transfers;
    std::size_t unchanged = 0;

private:
    // What the constants say of one transfer in the recorded and in the larger group, in s.
    struct BothTimes {
        double before = 0;
        double after = 0;
        bool apart = false; // only one of them crosses domains
    };

    // Worked out once for each group, kind and size: groups may be of many ranks.
    const BothTimes& expected_of(const TraceTransfer& transfer)
    {
        const auto [at, fresh] =
            expected_.try_emplace({transfer.group, transfer.ranks, *transfer.kind, transfer.bytes});
        if (fresh) {
            const GroupShape before = shape_of(transfer, transfer.ranks);
            const GroupShape after = shape_of(transfer, transfer.ranks * times_);
            const auto seconds = [&](const GroupShape& shape) {
                return cost_.collective(*transfer.kind, Bytes(transfer.bytes), shape, Backend::nccl)
                    .total.value();
            };
            at->second = {seconds(before), seconds(after),
                          (before.domains > 1) != (after.domains > 1)};
        }
        return at->second;
    }

    // Members stand as far apart as those that were recorded, as far as the cluster reaches.
    GroupShape shape_of(const TraceTransfer& transfer, int ranks) const
    {
        const JobTraceGroup* const group = job_.group_of(transfer);
        const std::vector<int>& members =
            group != nullptr && group->members.size() > 1 ? group->members : transfer.members;
        int stride = std::max(1, job_.world.value_or(transfer.ranks) / transfer.ranks);
        for (std::size_t i = 1; i < members.size(); ++i)
            stride = std::max(1, i == 1 ? members[i] - members[i - 1]
                                        : std::min(stride, members[i] - members[i - 1]));
        stride = std::clamp((topology_.device_count() - 1) / std::max(1, ranks - 1), 1, stride);
        std::vector<DeviceId> devices;
        for (int i = 0; i < ranks; ++i)
            devices.push_back(make_id<DeviceId>(to_size(i * stride)));
        return group_shape(topology_, devices);
    }

    void note(const ScaledTransfer& row)
    {
        const auto like = [&](const ScaledTransfer& other) {
            return other.kind == row.kind && other.role == row.role && other.bytes == row.bytes &&
                   other.ranks == row.ranks;
        };
        if (std::none_of(transfers.begin(), transfers.end(), like))
            transfers.push_back(row);
    }

    const JobTrace& job_;
    int times_;
    const Topology& topology_;
    const CostModel& cost_;
    std::map<std::tuple<std::string, int, CollectiveKind, std::uint64_t>, BothTimes> expected_;
};

Problems problem_of(const JobTrace& job, std::string message, std::string hint)
{
    return {{job.ranks.front().file, 0, "", std::move(message), std::move(hint), Severity::error}};
}

Problems flaws_of_question(const JobTrace& job, int ranks, const Topology& topology)
{
    if (!job.world)
        return problem_of(job, "does not say how many ranks the job had",
                          "record with PyTorch 2.2 or later");
    if (ranks <= *job.world || ranks % *job.world != 0)
        return problem_of(job,
                          fmt::format("{} ranks are {} the {} that ran", ranks,
                                      ranks > *job.world ? "no multiple of" : "no more than",
                                      *job.world),
                          fmt::format("{} or {}", *job.world * std::max(2, ranks / *job.world),
                                      *job.world * (std::max(2, ranks / *job.world) + 1)));
    if (topology.device_count() < ranks)
        return problem_of(job,
                          fmt::format("{} ranks need more than the {} devices of the cluster",
                                      ranks, topology.device_count()),
                          "--topology with more nodes");
    for (const JobTraceGroup& group : job.groups)
        if (group.ranks > *job.world)
            return problem_of(job,
                              fmt::format("process group \"{}\" has {} ranks, the job has {}",
                                          group.name, group.ranks, *job.world),
                              "record all ranks of the job in one run");
    const bool grows = std::any_of(job.groups.begin(), job.groups.end(), [](const auto& group) {
        return group.ranks > 1 && group.role && is_data_parallel(*group.role);
    });
    if (!grows)
        return problem_of(job, "no process group of data parallelism was recorded",
                          "describe the job and simulate it: trainyard init");
    return {};
}

} // namespace

double ScaledStep::slowness() const
{
    Seconds took;
    Seconds by_constants;
    for (const ScaledTransfer& transfer : transfers)
        if (!transfer.may_wait) {
            took += transfer.recorded;
            by_constants += transfer.expected;
        }
    return by_constants.value() > 0 ? took / by_constants : 1;
}

Checked<ScaledStep> scale_step(const JobTrace& job, int ranks, const Topology& topology,
                               const CostModel& cost, const WorkControl& work)
{
    if (Problems problems = flaws_of_question(job, ranks, topology); !problems.empty())
        return tl::unexpected(std::move(problems));
    RebuildQuestion question;
    question.known.resize(job.ranks.size());
    std::iota(question.known.begin(), question.known.end(), std::size_t{0});
    const Checked<RebuiltStep> rebuilt = rebuild_step(job, question, work);
    if (!rebuilt)
        return tl::unexpected(rebuilt.error());
    Scaling scaling(job, ranks / *job.world, topology, cost);
    question.transfer_time = std::ref(scaling);
    const Checked<RebuiltStep> scaled = rebuild_step(job, question, work);
    if (!scaled)
        return tl::unexpected(scaled.error());
    ScaledStep out;
    out.world = *job.world;
    out.scaled = ranks;
    out.recorded = rebuilt->recorded();
    out.rebuilt = rebuilt->rebuilt();
    out.scaled_step = scaled->rebuilt();
    out.transfers = std::move(scaling.transfers);
    out.unchanged = scaling.unchanged;
    if (out.transfers.empty())
        return tl::unexpected(
            problem_of(job, "holds no transfer of data parallelism whose group and size are known",
                       "record with PyTorch 2.3 or later, and with record_shapes"));
    std::stable_sort(
        out.transfers.begin(), out.transfers.end(),
        [](const ScaledTransfer& a, const ScaledTransfer& b) { return a.scaled > b.scaled; });
    return out;
}

} // namespace trainyard
