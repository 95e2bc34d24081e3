#include "calibrate/measure/run/runner.h"

#include "calibrate/measure/backend/fitted.h"
#include "calibrate/measure/design/order.h"
#include "calibrate/measure/run/point_run.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <numeric>

namespace trainyard {
namespace {

using Clock = std::chrono::steady_clock;

std::vector<int> world(int ranks)
{
    std::vector<int> out(static_cast<std::size_t>(ranks));
    std::iota(out.begin(), out.end(), 0);
    return out;
}

class Runner {
public:
    Runner(Coordinator& coordinator, const MeasurePlan& plan, const RunnerSetup& setup,
           MeasuredRun& run, Journal& journal)
        : coordinator_(coordinator), plan_(plan), setup_(setup), run_(run), journal_(journal)
    {}

    void all()
    {
        for (const PlannedGroup& group : plan_.groups)
            for (const PlannedCurve& curve : group.curves)
                for (const Bytes size : starting_sizes(curve.sizes))
                    left_.push_back(point_of(group.spec, with_size(curve.work, size)));
        for (const PlannedGroup& group : plan_.groups)
            for (const TimedWork& work : group.singles)
                if (!std::holds_alternative<BesideWork>(work))
                    left_.push_back(point_of(group.spec, work));
        left_ = in_measuring_order(std::move(left_), setup_.seed);
        while (!left_.empty())
            group(planned(left_.front().group));
        for (const PlannedGroup& planned : plan_.groups)
            if (planned.curves.empty() && only_beside(planned))
                group(planned);
    }

    // Messages of single pairs that were measured before, in the communicator of all ranks.
    void pairs_again(const std::vector<OrderedPair>& pairs)
    {
        groups_made_ = most_groups / 2 + static_cast<int>(run_.creations.size());
        std::vector<ExchangeWork> works;
        const GroupSpec* spec = nullptr;
        for (const PlannedGroup& group : plan_.groups)
            for (const TimedWork& work : group.singles)
                if (const auto* exchange = std::get_if<ExchangeWork>(&work);
                    exchange != nullptr && exchange->messages.size() == 1)
                {
                    const OrderedPair pair = in_world(group.spec, exchange->messages[0]);
                    if (std::find(pairs.begin(), pairs.end(), pair) != pairs.end()) {
                        works.push_back(*exchange);
                        spec = &group.spec;
                    }
                }
        if (spec == nullptr)
            return;
        for (const ExchangeWork& work : works)
            yet_to_come({point_of(*spec, work)});
        if (!join(*spec))
            return;
        for (const ExchangeWork& work : works)
            point(work);
        leave(*spec);
    }

private:
    static constexpr int most_groups = 10'000; // of a launch: numbers are never used twice

    static OrderedPair in_world(const GroupSpec& group, const PairMessage& message)
    {
        return {group.members[static_cast<std::size_t>(message.from)],
                group.members[static_cast<std::size_t>(message.to)]};
    }

    Point point_of(const GroupSpec& group, const TimedWork& work) const
    {
        return {group, work, setup_.launch};
    }

    static CollectiveWork with_size(CollectiveWork work, Bytes size)
    {
        work.size = size;
        return work;
    }

    const PlannedGroup& planned(const GroupSpec& spec) const
    {
        return *std::find_if(plan_.groups.begin(), plan_.groups.end(),
                             [&](const PlannedGroup& group) { return group.spec == spec; });
    }

    static bool only_beside(const PlannedGroup& planned)
    {
        return std::all_of(planned.singles.begin(), planned.singles.end(), [](const TimedWork& w) {
            return std::holds_alternative<BesideWork>(w);
        });
    }

    void leave_out(const std::string& what, const MeasureFailure& why)
    {
        std::string text =
            fmt::format("{}: {}{}", what, why.message, why.fix.empty() ? "" : " (" + why.fix + ")");
        journal_.left_out(text);
        run_.left_out.push_back(std::move(text));
    }

    // The next points are this group's. Those that are timed beside one another come after the
    // others, for they need what each takes alone.
    void group(const PlannedGroup& planned)
    {
        std::vector<Point> points;
        while (!left_.empty() && left_.front().group == planned.spec) {
            points.push_back(std::move(left_.front()));
            left_.erase(left_.begin());
        }
        if (!join(planned.spec))
            return;
        for (const Point& one : points)
            point(one.work);
        for (const TimedWork& work : planned.singles)
            if (const auto* beside = std::get_if<BesideWork>(&work))
                point_beside(*beside);
        for (const PlannedCurve& curve : planned.curves)
            refine(curve);
        leave(planned.spec);
        if (setup_.left != nullptr) // also what a broken communicator could not do
            setup_.left->gave_up(planned.spec, setup_.launch);
    }

    void yet_to_come(const std::vector<Point>& points)
    {
        if (setup_.left != nullptr)
            setup_.left->added(points);
    }

    void leave(const GroupSpec& spec)
    {
        RankCommand command;
        command.kind = CommandKind::leave;
        command.group = open_.number;
        coordinator_.ask(spec.members, command, setup_.patience);
    }

    bool join(const GroupSpec& spec)
    {
        open_ = {&spec, most_groups * setup_.launch + ++groups_made_};
        broken_ = false;
        RankCommand command;
        command.kind = CommandKind::join;
        command.group = open_.number;
        command.spec = spec;
        const GroupReplies made = coordinator_.ask(spec.members, command, setup_.patience);
        if (made.failure) {
            leave_out(fmt::format("communicator \"{}\"", spec.name), *made.failure);
            if (setup_.left != nullptr)
                setup_.left->gave_up(spec, setup_.launch);
            return false;
        }
        double slowest = 0;
        for (const RankReply& reply : made.replies)
            slowest = std::max(slowest, reply.seconds.empty() ? 0 : reply.seconds.front());
        const CreationTime creation{spec, setup_.launch, Seconds(slowest)};
        journal_.add(creation);
        run_.creations.push_back(creation);
        if (setup_.left != nullptr)
            setup_.left->made(creation);
        return true;
    }

    template <class Measure>
    void attempt(const TimedWork& work, const Measure& measure)
    {
        if (broken_)
            return;
        report(work);
        const auto begin = Clock::now();
        try {
            MeasuredPoint measured = measure();
            const std::chrono::duration<double> took = Clock::now() - begin;
            if (setup_.left != nullptr)
                setup_.left->measured(point_of(*open_.spec, work), measured, Seconds(took.count()));
            journal_.add(measured);
            run_.points.push_back(std::move(measured));
        } catch (const MeasureFailure& failure) {
            if (setup_.left != nullptr)
                setup_.left->gave_up(point_of(*open_.spec, work));
            leave_out(describe(work), failure);
            broken_ = failure.kind != FailureKind::refused;
            if (broken_)
                leave_out(fmt::format("the rest of communicator \"{}\"", open_.spec->name),
                          {failure.kind, "given up after that failure", ""});
        }
    }

    void report(const TimedWork& work) const
    {
        if (!setup_.control.progress || setup_.left == nullptr)
            return;
        const double done = std::chrono::duration<double>(Clock::now() - setup_.began).count();
        setup_.control.report(describe(work), done, done + setup_.left->seconds().value());
    }

    PointSetup point_setup() const
    {
        return {setup_.effort, setup_.trials, setup_.launch, setup_.patience};
    }

    void point(const TimedWork& work)
    {
        attempt(work, [&] { return measure_point(coordinator_, open_, work, point_setup()); });
    }

    // The median of `work` in this communicator and launch, measured now where it was not.
    std::optional<double> alone(const TimedWork& work)
    {
        const auto found = [&]() -> std::optional<double> {
            for (const MeasuredPoint& measured : run_.points)
                if (measured.point == point_of(*open_.spec, work))
                    return measured.estimate.median;
            return std::nullopt;
        };
        if (!found())
            point(work);
        return found();
    }

    void point_beside(const BesideWork& work)
    {
        const auto fitting =
            std::get<BesideWork>(fitted(work, static_cast<int>(open_.spec->members.size())));
        const auto collective = alone(fitting.collective);
        const auto local = alone(fitting.local);
        if (!collective || !local)
            return; // why is said already
        attempt(work, [&] {
            return measure_beside(coordinator_, open_, work, {*collective, *local}, point_setup());
        });
    }

    // What is measured of a curve in this communicator and launch, as the fit takes it.
    std::vector<Knot> knots_of(const PlannedCurve& curve) const
    {
        std::vector<Knot> out;
        for (const MeasuredPoint& one : run_.points)
            if (const auto* work = std::get_if<CollectiveWork>(&one.point.work);
                work != nullptr && one.point == point_of(*open_.spec, *work) &&
                with_size(*work, Bytes(0)) == with_size(curve.work, Bytes(0)))
                out.push_back({work->size, Seconds(one.estimate.median), Seconds(one.estimate.low),
                               Seconds(one.estimate.high)});
        return out;
    }

    // The closed loop: sizes are added where the curve misses what lies between its points.
    void refine(const PlannedCurve& curve)
    {
        constexpr std::size_t at_once = 4; // their results tell where more are needed
        LoopGoal goal;
        goal.miss = setup_.target;
        SizeLoop loop(curve.sizes.step, goal);
        for (int rounds = 0; rounds < setup_.rounds && !broken_; ++rounds) {
            const std::vector<Bytes> sizes = loop.next(knots_of(curve), at_once);
            if (sizes.empty())
                break;
            std::vector<Point> points;
            for (const Bytes size : sizes)
                points.push_back(point_of(*open_.spec, with_size(curve.work, size)));
            yet_to_come(points);
            for (const Point& one : points)
                point(one.work);
        }
        for (const SizeGap& gap : loop.unresolved()) {
            const UnresolvedJump jump{*open_.spec,   with_size(curve.work, Bytes(0)),
                                      setup_.launch, gap.from,
                                      gap.to,        gap.miss};
            journal_.add(jump);
            run_.jumps.push_back(jump);
        }
        if (setup_.left != nullptr)
            setup_.left->refined(point_of(*open_.spec, with_size(curve.work, Bytes(0))));
    }

    Coordinator& coordinator_;
    const MeasurePlan& plan_;
    const RunnerSetup& setup_;
    MeasuredRun& run_;
    Journal& journal_;
    std::vector<Point> left_; // of communicators to come
    OpenGroup open_;
    int groups_made_ = 0;
    bool broken_ = false;
};

} // namespace

std::vector<RankFacts> facts_of(Coordinator& coordinator, int ranks)
{
    constexpr Milliseconds to_open{120'000}; // drivers take their time
    RankCommand command;
    command.kind = CommandKind::facts;
    GroupReplies answer = coordinator.ask(world(ranks), command, to_open);
    if (answer.failure)
        throw *answer.failure;
    std::vector<RankFacts> out;
    for (int rank = 0; rank < ranks; ++rank) {
        const RankHello& hello = coordinator.hello(rank);
        out.push_back(
            {hello.place, hello.host,
             answer.replies[static_cast<std::size_t>(rank)].facts.value_or(BackendFacts{})});
    }
    return out;
}

void drop_impossible(Coordinator& coordinator, MeasurePlan& plan,
                     std::vector<std::string>& left_out)
{
    constexpr Milliseconds to_answer{30'000};
    RankCommand command;
    command.kind = CommandKind::cannot;
    for (const PlannedGroup& group : plan.groups) {
        for (const PlannedCurve& curve : group.curves)
            command.works.push_back(curve.work);
        command.works.insert(command.works.end(), group.singles.begin(), group.singles.end());
    }
    if (command.works.empty())
        return;
    GroupReplies answer = coordinator.ask({0}, command, to_answer);
    if (answer.failure)
        throw *answer.failure;
    const std::vector<std::string>& why = answer.replies.front().cannot;
    if (why.size() != command.works.size())
        throw MeasureFailure{FailureKind::broken,
                             fmt::format("rank 0 says of {} works whether it can time them, of {} "
                                         "that it was asked",
                                         why.size(), command.works.size()),
                             ""};
    std::size_t next = 0;
    std::map<std::string, std::vector<std::string>> impossible; // by the reason
    const auto is_impossible = [&](const TimedWork& work) {
        const std::string& reason = why[next++];
        if (!reason.empty())
            impossible[reason].push_back(describe(work));
        return !reason.empty();
    };
    for (PlannedGroup& group : plan.groups) {
        std::vector<PlannedCurve> curves;
        for (PlannedCurve& curve : group.curves)
            if (!is_impossible(curve.work))
                curves.push_back(std::move(curve));
        group.curves = std::move(curves);
        std::vector<TimedWork> singles;
        for (TimedWork& work : group.singles)
            if (!is_impossible(work))
                singles.push_back(std::move(work));
        group.singles = std::move(singles);
    }
    std::erase_if(plan.groups,
                  [](const PlannedGroup& g) { return g.curves.empty() && g.singles.empty(); });
    for (const auto& [reason, works] : impossible)
        left_out.push_back(works.size() == 1 ? fmt::format("{}: {}", works.front(), reason)
                                             : fmt::format("{} and {} more: {}", works.front(),
                                                           works.size() - 1, reason));
}

void measure(Coordinator& coordinator, const MeasurePlan& plan, const RunnerSetup& setup,
             MeasuredRun& run, Journal& journal)
{
    Runner(coordinator, plan, setup, run, journal).all();
}

void measure_again(Coordinator& coordinator, const MeasurePlan& plan,
                   const std::vector<OrderedPair>& pairs, const RunnerSetup& setup,
                   MeasuredRun& run, Journal& journal)
{
    Runner(coordinator, plan, setup, run, journal).pairs_again(pairs);
}

} // namespace trainyard
