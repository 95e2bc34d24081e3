#include "calibrate/measure/run/time_left.h"
#include "tests/catch.h"

using namespace trainyard;

namespace {

const GroupSpec both{"both", {0, 1}};

CollectiveWork all_reduce(Bytes size)
{
    CollectiveWork out;
    out.collective = CollectiveKind::all_reduce;
    out.size = size;
    return out;
}

// A curve of four sizes and one kernel.
MeasurePlan small_plan()
{
    PlannedGroup group;
    group.spec = both;
    group.curves.push_back({all_reduce(Bytes(0)), SizeRange{Bytes(1024), Bytes(64 << 10)}});
    LocalWork kernel;
    kernel.kind = LocalKind::memory_copy;
    kernel.size = Bytes(1 << 20);
    group.singles.push_back(kernel);
    return {{group}};
}

// On a machine that takes a second for every point, whatever it is.
class Clockwork {
public:
    explicit Clockwork(int launches) : left(small_plan(), launches, Forecast(Effort::quick)) {}

    void measure(const TimedWork& work, int launch)
    {
        MeasuredPoint result;
        result.point = {both, work, launch};
        result.estimate.median = 1e-3;
        left.measured(result.point, result, Seconds(1));
    }

    // A launch of the plan, to which so many sizes are added.
    void launch(int number, int extra)
    {
        left.made({both, number, Seconds(0.5)});
        const PlannedGroup group = small_plan().groups.front();
        measure(group.singles.front(), number);
        for (const Bytes size : starting_sizes(group.curves.front().sizes))
            measure(all_reduce(size), number);
        for (int i = 0; i < extra; ++i) {
            const CollectiveWork work = all_reduce(Bytes(3000 + 1000 * std::uint64_t(i)));
            left.added({{both, work, number}});
            measure(work, number);
        }
        left.refined({both, all_reduce(Bytes(0)), number});
    }

    TimeLeft left;
};

} // namespace

TEST_CASE("after a launch the time left is that of the others, with the sizes they will get")
{
    Clockwork run(3);
    run.launch(0, 3);
    // Two launches of a communicator, four sizes, a kernel and three sizes that will be added.
    CHECK(run.left.seconds().value() == Approx(2 * (0.5 + 5 + 3)).epsilon(0.02));
    run.launch(1, 3);
    CHECK(run.left.seconds().value() == Approx(0.5 + 5 + 3).epsilon(0.02));
    run.launch(2, 3);
    CHECK(run.left.seconds() == Seconds(0));
}

TEST_CASE("each point measured takes its own time off what is left, at most a little more")
{
    Clockwork run(2);
    run.launch(0, 2);
    double before = run.left.seconds().value();
    for (const Bytes size : starting_sizes({Bytes(1024), Bytes(64 << 10)})) {
        run.measure(all_reduce(size), 1);
        CHECK(before - run.left.seconds().value() == Approx(1).epsilon(0.05));
        before = run.left.seconds().value();
    }
}

TEST_CASE("what is given up takes no time: a point, or all that a broken communicator had left")
{
    Clockwork run(1);
    run.measure(all_reduce(Bytes(1024)), 0);
    const double before = run.left.seconds().value();
    run.left.gave_up({both, all_reduce(Bytes(4096)), 0});
    CHECK(run.left.seconds().value() < before - 0.9);
    run.left.gave_up(both, 0);
    CHECK(run.left.seconds() == Seconds(0));
}
