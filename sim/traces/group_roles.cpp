#include "sim/traces/group_roles.h"

#include "sim/traces/trace_words.h"

#include <fmt/core.h>

#include <map>
#include <set>

namespace trainyard {
namespace {

// What a group carries over all recorded ranks, each transfer at least a byte.
struct CarriedBytes {
    double all = 0;
    double messages = 0;
    double all_to_all = 0;
    double summed_forward = 0; // all-reduces and reduce-scatters
};

CarriedBytes carried(const JobTrace& job, const std::string& group)
{
    CarriedBytes out;
    for (const RankActivity& rank : job.ranks)
        for (const TraceOp& op : rank.ops) {
            if (op.transfer == TraceOp::no_transfer)
                continue;
            const TraceTransfer& transfer = rank.transfers[op.transfer];
            if (transfer.group != group || !transfer.kind)
                continue;
            const double bytes = static_cast<double>(transfer.bytes) + 1;
            out.all += bytes;
            const CollectiveKind kind = *transfer.kind;
            if (kind == CollectiveKind::send_receive)
                out.messages += bytes;
            if (kind == CollectiveKind::all_to_all)
                out.all_to_all += bytes;
            if (op.phase == Phase::forward &&
                (kind == CollectiveKind::all_reduce || kind == CollectiveKind::reduce_scatter))
                out.summed_forward += bytes;
        }
    return out;
}

std::optional<GroupKind> role_by_use(const CarriedBytes& carried)
{
    constexpr double most = 0.5;
    constexpr double forward_sums = 0.25; // of TP's bytes half are; of others' losses and norms
    if (carried.all == 0)
        return std::nullopt;
    if (carried.messages > most * carried.all)
        return GroupKind::pp;
    if (carried.all_to_all > most * carried.all)
        return GroupKind::ep;
    if (carried.summed_forward > forward_sums * carried.all)
        return GroupKind::tp;
    return GroupKind::dp;
}

// What unnamed transfers of many to many may be for, by the groups that the job describes.
std::set<GroupKind> described_kinds(const std::vector<JobTraceGroup>& groups)
{
    std::set<GroupKind> out;
    for (const JobTraceGroup& group : groups)
        if (group.role_stated && group.ranks > 1)
            out.insert(*group.role);
    return out;
}

void note_unnamed(JobTrace& job)
{
    std::size_t taken_for_dp = 0;
    std::size_t unknown = 0;
    for (const RankActivity& rank : job.ranks)
        for (const TraceTransfer& transfer : rank.transfers)
            if (transfer.group.empty() && transfer.kind && !group_purpose_called(transfer.purpose))
            {
                unknown += job.role_of(transfer) ? 0 : 1;
                taken_for_dp += job.role_of(transfer) == GroupKind::dp ? 1 : 0;
            }
    if (taken_for_dp > 0)
        job.assumed.push_back(fmt::format(
            "transfers that name no process group are of data parallelism: {}", taken_for_dp));
    if (unknown > 0)
        job.assumed.push_back(
            fmt::format("{} of the transfers name no process group, and the job has groups of "
                        "several kinds: their time counts as that of data parallelism",
                        unknown));
}

} // namespace

void find_roles(JobTrace& job)
{
    std::map<GroupKind, std::vector<std::string>> by_use;
    for (JobTraceGroup& group : job.groups) {
        if (group.name.empty())
            continue;
        group.role = group_purpose_called(group.purpose);
        group.role_stated = group.role.has_value();
        if (group.role)
            continue;
        group.role = role_by_use(carried(job, group.name));
        if (group.role && group.ranks != 1)
            by_use[*group.role].push_back(group.name);
    }
    for (const auto& [role, names] : by_use)
        job.assumed.push_back(
            fmt::format("{} for {} by what {} and when: no description says so",
                        names.size() == 1 ? fmt::format("process group \"{}\" is", names.front())
                                          : fmt::format("{} process groups are", names.size()),
                        to_name(role), names.size() == 1 ? "it carries" : "they carry"));
    note_unnamed(job);
}

std::optional<GroupKind> role_of_unnamed(const TraceTransfer& transfer,
                                         const std::vector<JobTraceGroup>& groups)
{
    if (const auto stated = group_purpose_called(transfer.purpose))
        return stated;
    if (!transfer.kind)
        return std::nullopt;
    if (*transfer.kind == CollectiveKind::all_to_all)
        return GroupKind::ep;
    if (*transfer.kind == CollectiveKind::send_receive)
        return GroupKind::pp;
    const std::set<GroupKind> described = described_kinds(groups);
    if (described.size() > 1)
        return std::nullopt;
    return described.empty() ? GroupKind::dp : *described.begin();
}

} // namespace trainyard
