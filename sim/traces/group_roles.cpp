#include "sim/traces/group_roles.h"

#include "sim/traces/trace_words.h"

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

} // namespace

void find_roles(JobTrace& job)
{
    for (JobTraceGroup& group : job.groups) {
        if (group.name.empty())
            continue;
        group.role = group_purpose_called(group.purpose);
        group.role_stated = group.role.has_value();
        if (!group.role)
            group.role = role_by_use(carried(job, group.name));
    }
}

std::optional<GroupKind> role_of_unnamed(const TraceTransfer& transfer)
{
    if (const auto stated = group_purpose_called(transfer.purpose))
        return stated;
    if (!transfer.kind)
        return std::nullopt;
    switch (*transfer.kind) {
    case CollectiveKind::all_to_all:
        return GroupKind::ep;
    case CollectiveKind::send_receive:
        return GroupKind::pp;
    default:
        return GroupKind::dp;
    }
}

} // namespace trainyard
