#include "sim/traces/job_notes.h"

#include "sim/base/units.h"
#include "sim/traces/execution/op_rules.h"

#include <fmt/core.h>

#include <algorithm>

namespace trainyard {
namespace {

// What was read otherwise than it stands there.
void note_mended_ops(const std::vector<DigestedRank>& ranks, JobTrace& job)
{
    for (const DigestedRank& rank : ranks)
        if (const std::uint64_t count = rank.file.backwards; count > 0)
            job.assumed.push_back(fmt::format(
                "{}: {} before {} (a negative dur), which counts as no time", rank.file.file,
                count == 1 ? std::string("an event of the device ends")
                           : fmt::format("{} events of the device end", count),
                count == 1 ? "it begins" : "they begin"));
}

void note_graphs(const std::vector<DigestedRank>& ranks, JobTrace& job)
{
    for (const DigestedRank& rank : ranks)
        if (const std::uint64_t count = rank.file.graphs; count > 0)
            job.assumed.push_back(fmt::format(
                "{}: {} runs of CUDA graphs are an op each that nothing is known of, transfers "
                "within too: nsys profile --cuda-graph-trace=node records their kernels",
                rank.file.file, count));
}

void note_left_over(JobTrace& job)
{
    for (const RankActivity& rank : job.ranks) {
        const auto count = std::count_if(rank.ops.begin(), rank.ops.end(),
                                         [](const TraceOp& op) { return op.left_over; });
        if (count > 0 && rank.step_source == StepSource::annotations)
            job.assumed.push_back(fmt::format(
                "rank {}: {} of {} kernels and copies were launched before the profiler recorded "
                "launches; they are of no step, and step {} begins when they are done",
                rank.rank, count, rank.ops.size(), rank.steps.front().number));
    }
}

void note_steps(JobTrace& job)
{
    for (const RankActivity& rank : job.ranks) {
        if (rank.steps_again > 0)
            job.assumed.push_back(fmt::format("rank {}: of steps with one number the first alone "
                                              "is looked at; left out: {}",
                                              rank.rank, rank.steps_again));
        const auto empty =
            std::count_if(rank.steps.begin(), rank.steps.end(), [&](const TraceStep& step) {
                const auto first = std::lower_bound(
                    rank.ops.begin(), rank.ops.end(), step.span.start,
                    [](const TraceOp& op, TraceTime t) { return op.span.start < t; });
                return first == rank.ops.end() || first->span.start >= step.span.end;
            });
        if (empty > 0)
            job.assumed.push_back(
                fmt::format("rank {}: in {} of {} steps no op begins; they count in the means",
                            rank.rank, empty, rank.steps.size()));
        if (rank.parts > 0)
            job.assumed.push_back(fmt::format(
                "rank {}: all as one step, though kernels repeat {} times, the first time in {}: "
                "others run before or behind them alone, so that these may be layers or "
                "micro-batches",
                rank.rank, rank.parts, to_display(to_seconds(rank.part))));
    }
}

// Of other accelerators PyTorch's profiler may record the host alone, which then looks the same.
void judge_host_ops(JobTrace& job)
{
    constexpr double beyond_cores = 5e14; // a second: no machine's cores compute as fast
    if (std::none_of(job.ranks.begin(), job.ranks.end(),
                     [](const RankActivity& rank) { return rank.on_host; }))
        return;
    job.assumed.push_back("what the host's cores did is all that ran: no event is of a device");
    for (const RankActivity& rank : job.ranks) {
        double operations = 0;
        Seconds time;
        for (const TraceOp& op : rank.ops)
            if (op.work == DeviceWork::gemm) {
                operations += flops_of_op(rank.text(op.name), rank.text(op.shapes), "");
                time += to_seconds(op.span.length());
            }
        if (rank.on_host && operations > beyond_cores * time.value())
            job.doubts.push_back(fmt::format(
                "{}: its products would run at {} on the host's cores, and more likely ran on a "
                "device that was not recorded",
                rank.file, to_display(FlopRate(operations / time.value()))));
    }
}

} // namespace

void note_files(const std::vector<DigestedRank>& ranks, JobTrace& job)
{
    note_mended_ops(ranks, job);
    note_graphs(ranks, job);
}

void note_ranks(JobTrace& job)
{
    note_left_over(job);
    note_steps(job);
    judge_host_ops(job);
}

} // namespace trainyard
