#include "sim/traces/matching.h"

#include <fmt/core.h>

#include <algorithm>
#include <tuple>

namespace trainyard {
namespace {

using MatchKey = std::tuple<std::string, int, std::uint32_t>; // group, step, place in it

std::map<MatchKey, MatchedCollective> candidates(const JobTrace& job)
{
    std::map<MatchKey, MatchedCollective> out;
    for (std::size_t r = 0; r < job.ranks.size(); ++r) {
        const RankActivity& rank = job.ranks[r];
        std::size_t step = 0;
        for (std::size_t i = 0; i < rank.ops.size(); ++i) {
            const TraceOp& op = rank.ops[i];
            while (step < rank.steps.size() && op.span.start >= rank.steps[step].span.end)
                ++step;
            if (op.transfer == TraceOp::no_transfer || step == rank.steps.size() ||
                op.span.start < rank.steps[step].span.start)
                continue;
            const TraceTransfer& transfer = rank.transfers[op.transfer];
            if (transfer.group.empty() || transfer.kind == CollectiveKind::send_receive)
                continue;
            out[{transfer.group, rank.steps[step].number, transfer.sequence}].members.push_back(
                {r, i});
        }
    }
    return out;
}

const TraceTransfer& transfer_of(const JobTrace& job, const MatchedCollective::Member& member)
{
    const RankActivity& rank = job.ranks[member.rank];
    return rank.transfers[rank.ops[member.op].transfer];
}

// Members that agree with the first.
bool agrees(const TraceTransfer& a, const TraceTransfer& b)
{
    return a.kind == b.kind && (a.bytes == b.bytes || a.kind == CollectiveKind::all_to_all);
}

std::string described(const TraceTransfer& transfer)
{
    return fmt::format("{} of {} bytes", transfer.kind ? to_name(*transfer.kind) : "a collective",
                       transfer.bytes);
}

TraceTime middle_of(std::vector<TraceTime> times)
{
    const auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
    std::nth_element(times.begin(), middle, times.end());
    return *middle;
}

// From rank to rank over the collectives that they share, starting with the first.
void find_offsets(JobTrace& job)
{
    std::map<std::pair<std::size_t, std::size_t>, std::vector<TraceTime>> apart;
    for (const MatchedCollective& collective : job.collectives)
        for (const auto& a : collective.members)
            for (const auto& b : collective.members)
                if (a.rank != b.rank)
                    apart[{a.rank, b.rank}].push_back(job.ranks[b.rank].ops[b.op].span.end -
                                                      job.ranks[a.rank].ops[a.op].span.end);
    std::vector<bool> reached(job.ranks.size(), false);
    std::vector<std::size_t> leading{0};
    reached[0] = true;
    while (!leading.empty()) {
        const std::size_t from = leading.back();
        leading.pop_back();
        for (std::size_t to = 0; to < job.ranks.size(); ++to) {
            const auto at = apart.find({from, to});
            if (reached[to] || at == apart.end())
                continue;
            const TraceTime offset = middle_of(at->second);
            std::vector<TraceTime> distances;
            for (const TraceTime time : at->second)
                distances.push_back(std::max(time - offset, offset - time));
            job.clock_offsets[to] = job.clock_offsets[from] + offset;
            job.offset_spreads[to] = middle_of(std::move(distances));
            reached[to] = true;
            leading.push_back(to);
        }
    }
    for (std::size_t i = 0; i < reached.size(); ++i)
        if (!reached[i])
            job.assumed.push_back(
                fmt::format("the clock of rank {} agrees with that of rank {}: no collective "
                            "joins them",
                            job.ranks[i].rank, job.ranks.front().rank));
}

} // namespace

void match_collectives(JobTrace& job, Problems& problems)
{
    constexpr std::size_t tolerated = 10; // one in ten
    std::size_t together = 0;
    std::size_t different = 0;
    std::string example;
    std::string file;
    for (auto& [key, collective] : candidates(job)) {
        if (collective.members.size() < 2)
            continue;
        ++together;
        const TraceTransfer& first = transfer_of(job, collective.members.front());
        const auto other = std::find_if(
            collective.members.begin(), collective.members.end(),
            [&](const auto& member) { return !agrees(first, transfer_of(job, member)); });
        if (other != collective.members.end()) {
            if (different++ == 0) {
                file = job.ranks[other->rank].file;
                example = fmt::format(
                    "collective {} of process group \"{}\" is {} on rank {}, {} on rank {}",
                    std::get<2>(key) + 1, std::get<0>(key), described(transfer_of(job, *other)),
                    job.ranks[other->rank].rank, described(first),
                    job.ranks[collective.members.front().rank].rank);
            }
            continue;
        }
        collective.complete =
            first.ranks > 0 && collective.members.size() == static_cast<std::size_t>(first.ranks);
        job.collectives.push_back(std::move(collective));
    }
    if (different * tolerated > together) {
        problems.push_back(
            {file, 0, "",
             fmt::format("{}; {} of {} differ: not of one run", example, different, together),
             "give the ranks of one run, recorded in the same steps", Severity::error});
        return;
    }
    if (different > 0)
        job.assumed.push_back(fmt::format("{} of {} collectives differ between ranks and are "
                                          "looked at rank by rank",
                                          different, together));
    job.clock_offsets.assign(job.ranks.size(), TraceTime());
    job.offset_spreads.assign(job.ranks.size(), TraceTime());
    if (job.ranks.front().times == TimesStated::timeline)
        find_offsets(job);
}

} // namespace trainyard
