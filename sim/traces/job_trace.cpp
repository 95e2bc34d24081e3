#include "sim/traces/job_trace.h"

#include "sim/base/units.h"
#include "sim/traces/execution/graph_ranks.h"
#include "sim/traces/group_roles.h"
#include "sim/traces/job_notes.h"
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

// All ops alike in time, which no two ranks have but processes of one report may; of an execution
// trace, which has no times, alike in names and shapes, as ranks of one program are.
bool same_ops(const RankActivity& a, const RankActivity& b)
{
    return std::equal(a.ops.begin(), a.ops.end(), b.ops.begin(), b.ops.end(),
                      [&](const TraceOp& of_a, const TraceOp& of_b) {
                          return of_a.span == of_b.span && a.text(of_a.name) == b.text(of_b.name) &&
                                 a.text(of_a.shapes) == b.text(of_b.shapes);
                      });
}

// Nothing but what they hold tells files that name no rank apart.
void look_for_copies(const std::vector<DigestedRank>& ranks, JobTrace& job, Problems& problems)
{
    for (std::size_t i = 1; i < ranks.size(); ++i)
        for (std::size_t j = 0; j < i; ++j) {
            const RankActivity& rank = ranks[i].activity;
            const RankActivity& other = ranks[j].activity;
            if (rank.file == other.file || !same_ops(rank, other) || rank.graph != other.graph)
                continue;
            if (rank.times == TimesStated::timeline)
                complain(
                    problems, rank.file,
                    fmt::format("is the recording of {}: every op at the same time", other.file));
            else
                job.doubts.push_back(fmt::format("{} has the ops of {} and names no rank: is it a "
                                                 "copy?",
                                                 rank.file, other.file));
            break;
        }
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
        look_for_copies(ranks, job, problems);
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
        job.simulated = job.simulated || trace.simulated;
        if (job.backend.empty())
            job.backend = trace.backend;
        if (job.device.empty() && !trace.devices.empty())
            job.device = trace.devices.front();
        else if (!trace.devices.empty() && trace.devices.front() != job.device)
            job.assumed.push_back(fmt::format("{} is of a rank on {}, others on {}", trace.file,
                                              trace.devices.front(), job.device));
    }
}

void require_ranks_of_world(const std::vector<DigestedRank>& ranks, const JobTrace& job,
                            Problems& problems)
{
    for (const DigestedRank& rank : ranks)
        if (const RankTrace& trace = rank.file; job.world && trace.rank.value_or(0) >= *job.world)
            complain(problems, trace.file,
                     fmt::format("is of rank {} of a job of {} ranks", *trace.rank, *job.world));
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

TraceSpan recorded_span(const RankActivity& rank)
{
    TraceSpan out = rank.ops.front().span;
    for (const TraceOp& op : rank.ops)
        out.end = std::max(out.end, op.span.end);
    return out;
}

std::string distance_text(TraceTime time)
{
    const double seconds = to_seconds(time).value();
    constexpr double hour = 3600;
    constexpr double day = 24 * hour;
    if (seconds < hour)
        return fmt::format("{:.0f} s", seconds);
    return seconds < day ? fmt::format("{:.1f} hours", seconds / hour)
                         : fmt::format("{:.1f} days", seconds / day);
}

// Ranks of one run record at one time. Clocks of machines that show the date are seconds apart,
// those that nobody set perhaps minutes; one that counts from when its machine started tells
// nothing.
void require_one_time(JobTrace& job, Problems& problems)
{
    constexpr TraceTime badly_set(60'000'000'000);
    constexpr TraceTime another_run(3'600'000'000'000);
    constexpr TraceTime first_date(1'000'000'000'000'000'000); // in 2001
    const RankActivity& first = job.ranks.front();
    const TraceSpan span = recorded_span(first);
    for (const RankActivity& rank : job.ranks) {
        const TraceSpan other = recorded_span(rank);
        const TraceTime apart = std::max(other.start - span.end, span.start - other.end);
        if (apart < badly_set)
            continue;
        const bool dated = std::min(span.start, other.start) >= first_date;
        std::string text = fmt::format("was recorded {} {} {}", distance_text(apart),
                                       other.start < span.start ? "before" : "after", first.file);
        if (dated && apart > another_run)
            complain(problems, rank.file, std::move(text));
        else
            job.doubts.push_back(
                fmt::format("{} {} by their clocks{}: ranks of one run record at one time",
                            rank.file, text, dated ? "" : ", which do not show the date"));
    }
}

// Ranks of one job wait for each other, so their steps take equally long.
void doubt_unlike_steps(JobTrace& job)
{
    constexpr double alike = 1.5;
    const auto mean = [](const RankActivity& rank) {
        TraceTime sum;
        for (const TraceStep& step : rank.steps)
            sum += step.span.length();
        return (1 / static_cast<double>(rank.steps.size())) * to_seconds(sum);
    };
    const auto [shortest, longest] = std::minmax_element(
        job.ranks.begin(), job.ranks.end(),
        [&](const RankActivity& a, const RankActivity& b) { return mean(a) < mean(b); });
    const Seconds least = mean(*shortest);
    const Seconds most = mean(*longest);
    if (most > alike * least)
        job.doubts.push_back(
            fmt::format("a step of {} takes {}, one of {} {}: ranks of one run wait for each other",
                        longest->file, to_display(most), shortest->file, to_display(least)));
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
        return role_of_unnamed(transfer, groups);
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
    require_ranks_of_world(ranks, job, problems);
    gather_groups(ranks, job, problems);
    note_files(ranks, job);
    if (!problems.empty())
        return tl::unexpected(std::move(problems));
    for (DigestedRank& rank : ranks)
        job.ranks.push_back(std::move(rank.activity));
    std::sort(job.ranks.begin(), job.ranks.end(),
              [](const RankActivity& a, const RankActivity& b) { return a.rank < b.rank; });
    gather_used_groups(job);
    if (job.ranks.front().times == TimesStated::timeline) {
        require_one_time(job, problems);
        doubt_unlike_steps(job);
        note_ranks(job);
    }
    require_common_steps(job, problems);
    if (problems.empty())
        match_collectives(job, problems);
    if (!problems.empty())
        return tl::unexpected(std::move(problems));
    find_roles(job);
    return job;
}

} // namespace trainyard
