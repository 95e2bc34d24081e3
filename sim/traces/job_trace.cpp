#include "sim/traces/job_trace.h"

#include "sim/traces/execution/graph_ranks.h"
#include "sim/traces/group_roles.h"
#include "sim/traces/matching.h"

#include <fmt/core.h>

#include <algorithm>

namespace trainyard {
namespace {

constexpr const char* one_run = "give the ranks of one run, recorded in the same steps";

void complain(Problems& problems, const std::string& file, std::string message)
{
    problems.push_back({file, 0, "", std::move(message), one_run, Severity::error});
}

void number_ranks(std::vector<DigestedRank>& ranks, JobTrace& job, Problems& problems)
{
    const auto unnamed = std::count_if(ranks.begin(), ranks.end(),
                                       [](const DigestedRank& rank) { return !rank.file.rank; });
    if (unnamed == static_cast<std::ptrdiff_t>(ranks.size())) {
        for (std::size_t i = 0; i < ranks.size(); ++i)
            ranks[i].file.rank = static_cast<int>(i);
        job.assumed.push_back(ranks.size() == 1 ? "rank 0: the trace does not name its rank"
                                                : "ranks in the order of the files: the traces "
                                                  "do not name theirs");
    }
    std::map<int, std::string> files;
    for (DigestedRank& rank : ranks) {
        const RankTrace& trace = rank.file;
        if (!trace.rank)
            complain(problems, trace.file, "does not say which rank it is of, others do");
        else if (const auto [at, fresh] = files.try_emplace(*trace.rank, trace.file); !fresh)
            complain(problems, trace.file,
                     fmt::format("is of rank {}, and so is {}", *trace.rank, at->second));
        rank.activity.rank = trace.rank.value_or(0);
    }
}

// Where one has times and another has none they cannot be laid side by side.
void require_one_kind(const std::vector<DigestedRank>& ranks, Problems& problems)
{
    const auto kind = [](const DigestedRank& rank) {
        return rank.activity.graph ? "an execution trace" : "a trace of a profiler";
    };
    const DigestedRank& first = ranks.front();
    for (const DigestedRank& rank : ranks)
        if (rank.activity.graph.has_value() != first.activity.graph.has_value())
            complain(problems, rank.file.file,
                     fmt::format("is {}, {} is {}", kind(rank), first.file.file, kind(first)));
}

void agree_on_world(const std::vector<DigestedRank>& ranks, JobTrace& job, Problems& problems)
{
    const RankTrace* stated = nullptr;
    for (const DigestedRank& rank : ranks) {
        const RankTrace& trace = rank.file;
        if (trace.world && stated == nullptr) {
            stated = &trace;
            job.world = trace.world;
        } else if (trace.world && trace.world != job.world) {
            complain(problems, trace.file,
                     fmt::format("is of a job of {} ranks, {} of one of {}", *trace.world,
                                 stated->file, *job.world));
        }
        if (trace.world && trace.rank && *trace.rank >= *trace.world)
            complain(problems, trace.file,
                     fmt::format("is of rank {} of a job of {} ranks", *trace.rank, *trace.world));
        if (job.backend.empty())
            job.backend = trace.backend;
        if (job.device.empty() && !trace.devices.empty())
            job.device = trace.devices.front();
        else if (!trace.devices.empty() && trace.devices.front() != job.device)
            job.assumed.push_back(fmt::format("{} is of a rank on {}, others on {}", trace.file,
                                              trace.devices.front(), job.device));
    }
}

void gather_groups(const std::vector<DigestedRank>& ranks, JobTrace& job, Problems& problems)
{
    std::map<std::string, std::pair<std::size_t, std::string>> known; // place, file
    for (const DigestedRank& rank : ranks)
        for (const TraceGroup& group : rank.file.groups) {
            const RankTrace& trace = rank.file;
            const auto [at, fresh] = known.try_emplace(group.name, job.groups.size(), trace.file);
            if (fresh) {
                job.groups.push_back(
                    {group.name, group.purpose, group.size, group.ranks, std::nullopt, false});
                continue;
            }
            const JobTraceGroup& other = job.groups[at->second.first];
            if (other.ranks != group.size || other.members != group.ranks)
                complain(problems, trace.file,
                         fmt::format("has other ranks in process group \"{}\" than {}", group.name,
                                     at->second.second));
        }
}

void gather_used_groups(JobTrace& job)
{
    for (const RankActivity& rank : job.ranks)
        for (const TraceTransfer& transfer : rank.transfers) {
            auto at =
                std::find_if(job.groups.begin(), job.groups.end(), [&](const JobTraceGroup& group) {
                    return group.name == transfer.group;
                });
            if (at == job.groups.end())
                at = job.groups.insert(at, {transfer.group, transfer.purpose, transfer.ranks,
                                            transfer.members, std::nullopt, false});
            at->ranks = std::max(at->ranks, transfer.ranks);
        }
}

// Clocks that differ by more than a year are of two runs, whatever the steps are called.
void require_one_time(const JobTrace& job, Problems& problems)
{
    constexpr TraceTime year(31'556'952'000'000'000);
    const auto start = [](const RankActivity& rank) { return rank.ops.front().span.start; };
    const RankActivity& first = job.ranks.front();
    for (const RankActivity& rank : job.ranks)
        if (start(rank) - start(first) > year || start(first) - start(rank) > year)
            complain(problems, rank.file,
                     fmt::format("was recorded more than a year from {}", first.file));
}

// Steps by the same numbers are the same steps; nothing else says when ranks were recorded.
void require_common_steps(const JobTrace& job, Problems& problems)
{
    const RankActivity& first = job.ranks.front();
    for (const RankActivity& rank : job.ranks) {
        if (rank.step_source != StepSource::annotations ||
            first.step_source != StepSource::annotations)
            continue;
        const bool common =
            std::any_of(rank.steps.begin(), rank.steps.end(), [&](const TraceStep& step) {
                return std::any_of(first.steps.begin(), first.steps.end(),
                                   [&](const TraceStep& of) { return of.number == step.number; });
            });
        if (!common)
            complain(problems, rank.file,
                     fmt::format("holds steps {} to {}, {} steps {} to {}: none in common",
                                 rank.steps.front().number, rank.steps.back().number, first.file,
                                 first.steps.front().number, first.steps.back().number));
    }
}

} // namespace

const JobTraceGroup* JobTrace::group_of(const TraceTransfer& transfer) const
{
    const auto at = std::find_if(groups.begin(), groups.end(), [&](const JobTraceGroup& group) {
        return group.name == transfer.group;
    });
    return at == groups.end() ? nullptr : &*at;
}

std::optional<GroupKind> JobTrace::role_of(const TraceTransfer& transfer) const
{
    // A group without a name joins transfers of all kinds: each tells for itself.
    if (transfer.group.empty())
        return role_of_unnamed(transfer);
    const JobTraceGroup* group = group_of(transfer);
    return group != nullptr ? group->role : std::nullopt;
}

DigestedRank digest(RankTrace&& trace)
{
    DigestedRank out;
    out.activity = activity_of(std::move(trace));
    out.file = std::move(trace);
    return out;
}

Checked<JobTrace> join_ranks(std::vector<DigestedRank> ranks, const std::vector<TraceGroup>& listed)
{
    JobTrace job;
    Problems problems;
    number_ranks(ranks, job, problems);
    complete_transfers(ranks, listed, job.assumed);
    require_one_kind(ranks, problems);
    agree_on_world(ranks, job, problems);
    gather_groups(ranks, job, problems);
    if (!problems.empty())
        return tl::unexpected(std::move(problems));
    for (DigestedRank& rank : ranks)
        job.ranks.push_back(std::move(rank.activity));
    std::sort(job.ranks.begin(), job.ranks.end(),
              [](const RankActivity& a, const RankActivity& b) { return a.rank < b.rank; });
    gather_used_groups(job);
    require_one_time(job, problems);
    require_common_steps(job, problems);
    if (problems.empty())
        match_collectives(job, problems);
    if (!problems.empty())
        return tl::unexpected(std::move(problems));
    find_roles(job);
    return job;
}

} // namespace trainyard
