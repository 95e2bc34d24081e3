#include "calibrate/measure/run/point_run.h"

#include "calibrate/fit/order_statistics.h"
#include "calibrate/measure/backend/fitted.h"
#include "calibrate/measure/run/sound_samples.h"
#include "calibrate/measure/statistics/sampler.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

namespace trainyard {
namespace {

// Batches as their slowest rank saw them.
struct SlowestTimes {
    std::vector<double> seconds;               // per op
    std::vector<int> slowest;                  // member, of each batch
    std::vector<std::vector<double>> of_ranks; // seconds per op of each member
    bool covered = true;
};

class PointRun {
public:
    PointRun(Coordinator& coordinator, const OpenGroup& group, const PointSetup& setup)
        : coordinator_(coordinator), group_(group), setup_(setup)
    {}

    void prepare(const TimedWork& work)
    {
        RankCommand command;
        command.kind = CommandKind::prepare;
        command.works = {work};
        tell(command, Seconds(0));
    }

    // Elements that are wrong, over all ranks; nothing when none can be checked.
    std::optional<std::int64_t> check()
    {
        RankCommand command;
        command.kind = CommandKind::check;
        std::optional<std::int64_t> out;
        for (const RankReply& reply : tell(command, Seconds(0)))
            if (reply.wrong)
                out = out.value_or(0) + *reply.wrong;
        return out;
    }

    SlowestTimes run(int batches, int ops, Seconds expected)
    {
        RankCommand command;
        command.kind = CommandKind::run;
        command.batches = batches;
        command.ops = ops;
        SlowestTimes out;
        out.seconds.assign(static_cast<std::size_t>(batches), 0);
        out.slowest.assign(static_cast<std::size_t>(batches), 0);
        const std::vector<RankReply> replies = tell(command, expected);
        out.of_ranks.resize(replies.size());
        for (std::size_t member = 0; member < replies.size(); ++member) {
            const RankReply& reply = replies[member];
            out.covered = out.covered && reply.covered;
            for (std::size_t i = 0; i < out.seconds.size() && i < reply.seconds.size(); ++i) {
                const double one = reply.seconds[i] / ops;
                out.of_ranks[member].push_back(one);
                if (one > out.seconds[i]) {
                    out.seconds[i] = one;
                    out.slowest[i] = static_cast<int>(member);
                }
            }
        }
        return out;
    }

private:
    std::vector<RankReply> tell(RankCommand command, Seconds expected)
    {
        constexpr double slower = 10; // than it should be
        command.group = group_.number;
        const auto limit =
            setup_.patience +
            Milliseconds(static_cast<std::int64_t>(1000 * slower * expected.value()));
        GroupReplies answer = coordinator_.ask(group_.spec->members, command, limit);
        if (answer.failure) {
            MeasureFailure failure = *answer.failure;
            if (answer.failed_rank >= 0 && group_.spec->members.size() > 1)
                failure.message = fmt::format("rank {}: {}", answer.failed_rank, failure.message);
            throw failure;
        }
        for (std::size_t member = 0; member < answer.replies.size(); ++member)
            if (const std::string wrong = unsound(answer.replies[member]); !wrong.empty())
                throw MeasureFailure{FailureKind::broken,
                                     fmt::format("rank {} sends what cannot be: {}",
                                                 group_.spec->members[member], wrong),
                                     ""};
        return std::move(answer.replies);
    }

    Coordinator& coordinator_;
    const OpenGroup& group_;
    const PointSetup& setup_;
};

std::vector<double> medians_of(const std::vector<std::vector<double>>& of_ranks)
{
    std::vector<double> out;
    for (const std::vector<double>& times : of_ranks)
        out.push_back(times.empty() ? 0 : median(times));
    return out;
}

// Which member was last most often.
void name_slowest(const std::vector<int>& slowest, MeasuredPoint& point)
{
    if (slowest.empty() || point.point.group.members.size() < 2)
        return;
    std::map<int, std::size_t> counts;
    for (const int member : slowest)
        ++counts[member];
    const auto most =
        std::max_element(counts.begin(), counts.end(),
                         [](const auto& a, const auto& b) { return a.second < b.second; });
    point.slowest_rank = most->first;
    point.slowest_share = static_cast<double>(most->second) / static_cast<double>(slowest.size());
}

void flag(MeasuredPoint& point)
{
    const Estimate& estimate = point.estimate;
    if (point.wrong.value_or(0) > 0)
        point.flags.push_back(fmt::format("{} elements of the result are wrong", *point.wrong));
    if (estimate.outliers > 0)
        point.flags.push_back(
            fmt::format("{} of {} batches are outliers", estimate.outliers, point.batches.size()));
    if (estimate.drift != 0)
        point.flags.push_back(fmt::format("its time drifted by {:+.0f} %", 100 * estimate.drift));
    if (estimate.multimodal)
        point.flags.push_back("its times have separate levels");
}

} // namespace

MeasuredPoint measure_point(Coordinator& coordinator, const OpenGroup& group, const TimedWork& work,
                            const PointSetup& setup)
{
    MeasuredPoint out;
    out.point = {*group.spec, fitted(work, static_cast<int>(group.spec->members.size())),
                 setup.launch};
    PointRun run(coordinator, group, setup);
    run.prepare(out.point.work);
    out.wrong = run.check();
    Sampler sampler(limits_of(setup.effort, message_size(out.point.work), setup.trials));
    std::vector<int> slowest;
    std::vector<std::vector<double>> of_ranks;
    double last = 0;
    while (const std::optional<Request> request = sampler.next()) {
        const auto begin = std::chrono::steady_clock::now();
        const SlowestTimes times = run.run(request->batches, request->ops,
                                           Seconds(last * request->batches * request->ops));
        const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - begin;
        sampler.add(times.seconds, Seconds(spent.count()));
        last = *std::max_element(times.seconds.begin(), times.seconds.end());
        if (request->kind != SampleKind::timed)
            continue;
        slowest.insert(slowest.end(), times.slowest.begin(), times.slowest.end());
        of_ranks.resize(times.of_ranks.size());
        for (std::size_t i = 0; i < of_ranks.size(); ++i)
            of_ranks[i].insert(of_ranks[i].end(), times.of_ranks[i].begin(),
                               times.of_ranks[i].end());
    }
    out.ops_per_batch = sampler.ops_per_batch();
    out.batches = sampler.timed();
    out.isolated = sampler.isolated();
    out.by_rank = medians_of(of_ranks);
    out.estimate = estimate_of(out.batches);
    if (!sampler.settled())
        out.flags.push_back("its warm-up did not settle");
    name_slowest(slowest, out);
    flag(out);
    return out;
}

// The one that is timed runs for a while of its own, in one batch; the other is repeated so often
// that it should last longer, and oftener when it did not.
MeasuredPoint measure_beside(Coordinator& coordinator, const OpenGroup& group,
                             const BesideWork& work, const AloneTimes& alone,
                             const PointSetup& setup)
{
    constexpr double batch_seconds = 0.02;
    constexpr int most_tries = 6;
    const Limits limits = limits_of(setup.effort, work.collective.size);
    const double timed = work.times_collective ? alone.collective : alone.local;
    const double other = work.times_collective ? alone.local : alone.collective;
    const int ops = std::max(1, static_cast<int>(std::ceil(batch_seconds / timed)));
    PointRun run(coordinator, group, setup);
    MeasuredPoint out;
    BesideWork trial =
        std::get<BesideWork>(fitted(work, static_cast<int>(group.spec->members.size())));
    // Fewer batches than of others: each is twenty milliseconds of many ops.
    const int batches = std::max(fewest_batches, limits.least_batches / 2);
    SlowestTimes times;
    times.covered = false;
    double margin = 2;
    for (int i = 0; i < most_tries && !times.covered; ++i, margin *= 2) {
        const double expected = margin * ops * timed;
        trial.repeats = std::max(1, static_cast<int>(std::ceil(expected / other)));
        run.prepare(trial);
        times = run.run(1, ops, Seconds(expected));
        if (times.covered)
            times = run.run(batches, ops, Seconds(batches * expected));
    }
    if (!times.covered)
        throw MeasureFailure{FailureKind::refused,
                             "the one beside it always ended before the one that is timed", ""};
    out.point = {*group.spec, trial, setup.launch};
    out.ops_per_batch = ops;
    out.batches = times.seconds;
    out.by_rank = medians_of(times.of_ranks);
    out.estimate = estimate_of(out.batches);
    name_slowest(times.slowest, out);
    flag(out);
    return out;
}

} // namespace trainyard
