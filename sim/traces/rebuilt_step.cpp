#include "sim/traces/rebuilt_step.h"

#include <fmt/core.h>

#include <algorithm>

namespace trainyard {
namespace {

Problems problem(const JobTrace& job, std::string message, std::string hint)
{
    return {{job.ranks.front().file, 0, "", std::move(message), std::move(hint), Severity::error}};
}

// Adds up the steps of all ranks.
class StepSums {
public:
    StepSums(const JobTrace& job, const RebuildQuestion& question)
        : job_(job),
          times_(transfer_times(job)),
          known_(job, times_, question.known),
          question_(question)
    {
        out.slowdown = known_.slowdown();
        for (std::size_t r = 0; r < job.ranks.size(); ++r) {
            const bool known =
                std::find(question.known.begin(), question.known.end(), r) != question.known.end();
            out.ranks.push_back({job.ranks[r].rank, known, Seconds(), Seconds()});
        }
    }

    // Nothing, or why the step cannot be rebuilt. Steps that follow one another overlap; a single
    // one began with the device idle.
    Problems add(int step, double share, const WorkControl& work)
    {
        const bool single = job_.ranks.front().steps.size() == 1;
        const RebuiltProgram rebuilt =
            rebuilt_program(job_, times_, known_, step, question_.transfer_time);
        const Checked<StepResult> alone = run_rebuilt(rebuilt, 1, work);
        if (!alone)
            return alone.error();
        const Checked<StepResult> behind = single ? alone : run_rebuilt(rebuilt, 2, work);
        if (!behind)
            return behind.error();
        ++out.steps;
        out.ops += rebuilt.ops;
        out.unknown += rebuilt.unknown;
        out.joined += rebuilt.joined;
        out.lone += rebuilt.lone;
        for (std::size_t r = 0; r < job_.ranks.size(); ++r) {
            const SimTime start = single ? SimTime() : alone->lane_ends[r];
            const TraceSpan& span = step_numbered(job_.ranks[r], step).span;
            out.ranks[r].recorded += share * to_seconds(span.length());
            out.ranks[r].rebuilt += share * to_seconds(behind->lane_ends[r] - start);
            if (counts(r))
                add_recorded(r, span, share / ranks_that_count());
        }
        for (const OpRecord& record : behind->records) {
            const std::size_t r = record.lane.value;
            const std::size_t op = rebuilt.op[r][record.op];
            if (counts(r) && op != RebuiltProgram::no_op)
                work_of(out.rebuilt_work, job_.ranks[r].ops[op]) +=
                    share / ranks_that_count() * to_seconds(record.end - record.transfer_start);
        }
        return {};
    }

    RebuiltStep out;

private:
    using WorkTimes = std::array<Seconds, device_work_count>;

    static Seconds& work_of(WorkTimes& times, const TraceOp& op)
    {
        return times[static_cast<std::size_t>(op.work)];
    }

    bool counts(std::size_t rank) const { return !out.judged() || !out.ranks[rank].known; }

    double ranks_that_count() const
    {
        double count = 0;
        for (std::size_t r = 0; r < out.ranks.size(); ++r)
            count += counts(r) ? 1 : 0;
        return count;
    }

    void add_recorded(std::size_t r, const TraceSpan& step, double share)
    {
        for (const TraceOp& op : job_.ranks[r].ops)
            if (op.span.start >= step.start && op.span.start < step.end) {
                const TraceTime from = op.transfer == TraceOp::no_transfer
                                           ? op.span.start
                                           : times_[r][op.transfer].moving_from;
                work_of(out.recorded_work, op) += share * to_seconds(op.span.end - from);
            }
    }

    const JobTrace& job_;
    std::vector<std::vector<TransferMoving>> times_;
    RecordedTimes known_;
    const RebuildQuestion& question_;
};

Seconds mean_of(const RebuiltStep& step, Seconds RebuiltRank::*time)
{
    Seconds sum;
    double count = 0;
    for (const RebuiltRank& rank : step.ranks)
        if (!step.judged() || !rank.known) {
            sum += rank.*time;
            count += 1;
        }
    return (1 / count) * sum;
}

} // namespace

std::vector<int> common_steps(const JobTrace& job)
{
    constexpr std::size_t most = 8;
    std::vector<int> out;
    for (const TraceStep& step : job.ranks.front().steps) {
        const auto has = [&](const RankActivity& rank) {
            return std::any_of(rank.steps.begin(), rank.steps.end(),
                               [&](const TraceStep& other) { return other.number == step.number; });
        };
        if (out.size() < most && std::all_of(job.ranks.begin(), job.ranks.end(), has))
            out.push_back(step.number);
    }
    return out;
}

Checked<StepResult> run_rebuilt(const RebuiltProgram& rebuilt, int steps, const WorkControl& work)
{
    RunControl control;
    control.work = work;
    control.steps = steps;
    control.record.lane = [](LaneId) { return true; };
    control.record.first_step = static_cast<std::uint16_t>(steps - 1);
    return run(rebuilt.program, rebuilt.binding, control).map([](Run done) {
        return std::move(done.result);
    });
}

bool RebuiltStep::judged() const
{
    return std::any_of(ranks.begin(), ranks.end(),
                       [](const RebuiltRank& rank) { return !rank.known; });
}

Seconds RebuiltStep::recorded() const
{
    return mean_of(*this, &RebuiltRank::recorded);
}

Seconds RebuiltStep::rebuilt() const
{
    return mean_of(*this, &RebuiltRank::rebuilt);
}

Checked<RebuiltStep> rebuild_step(const JobTrace& job, const RebuildQuestion& question,
                                  const WorkControl& work)
{
    constexpr std::size_t most_groups = 200; // slots of groups are numbered in 8 bit
    const std::vector<int> steps = common_steps(job);
    if (steps.empty())
        return tl::unexpected(problem(job, "the ranks have no step in common", ""));
    if (job.groups.size() + job.ranks.size() > most_groups)
        return tl::unexpected(problem(
            job,
            fmt::format("{} process groups of {} recorded ranks are too many to rebuild a step",
                        job.groups.size(), job.ranks.size()),
            "give the files of fewer ranks"));
    StepSums sums(job, question);
    for (const int step : steps)
        if (Problems problems = sums.add(step, 1 / static_cast<double>(steps.size()), work);
            !problems.empty())
            return tl::unexpected(std::move(problems));
    if (sums.out.recorded().value() <= 0 || sums.out.rebuilt().value() <= 0)
        return tl::unexpected(problem(job, "its steps take no time", ""));
    return std::move(sums.out);
}

} // namespace trainyard
